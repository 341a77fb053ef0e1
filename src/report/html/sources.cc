#include <algorithm>
#include <map>
#include <set>

#include "report/annotate/annotation.h"
#include "report/html/source_parts.h"
#include "report/names/short_name.h"

namespace pctally {
namespace {

constexpr size_t kAround = 3;  ///< instructions, or lines, shown before and behind one with ticks

/// Instructions with ticks, their neighbours, and where these jump to; ascending.
std::vector<size_t> shown_instructions(const Annotator& annotator) {
  const Annotation& annotation = annotator.annotation();
  std::set<size_t> shown;
  const size_t count = annotation.instructions.size();
  for (size_t i = 0; i < count; ++i) {
    if (annotation.instructions[i].ticks.ticks == 0) continue;
    for (size_t near = i - std::min(i, kAround); near <= std::min(i + kAround, count - 1); ++near)
      shown.insert(near);
  }
  const std::vector<size_t> hot(shown.begin(), shown.end());
  for (const size_t index : hot)
    if (const auto target = annotator.jump_target(index)) shown.insert(*target);
  return {shown.begin(), shown.end()};
}

/// "mov 0x8(%rax),%rdx", "call memcmp@plt"
std::string code_text(const Annotator& annotator, size_t index) {
  const InstructionText text = annotator.text(index);
  std::string code = text.mnemonic;
  if (!text.operands.empty()) code += ' ' + text.operands_and_memory();
  if (annotator.annotation().instructions[index].instruction.target == 0) return code;
  const std::string target = annotator.target_name(index);
  return target.empty() ? code : code + (text.operands.empty() ? " " : ", ") + target;
}

/// Instructions of one line, in one function or what was inlined into it.
struct Line {
  uint64_t ticks = 0;
  HtmlJson instructions = HtmlJson::array();
};

struct Block {
  uint64_t ticks = 0;
  std::map<uint32_t, Line> lines;
};

/// Without a name: the function's own code. By file, for a header may define a part of it.
using Blocks = std::map<std::pair<std::string, std::string>, Block>;

HtmlJson block_json(const std::pair<std::string, std::string>& key, Block* block, Texts* texts) {
  HtmlJson lines = HtmlJson::array();
  for (auto& [number, line] : block->lines)
    lines.push_back(HtmlJson::array({number, line.ticks, std::move(line.instructions)}));
  return {{"name", texts->number(key.first)},
          {"file", texts->number_of_path(key.second)},
          {"lines", std::move(lines)}};
}

/// The function's own code first, then what was inlined, most ticks first.
HtmlJson blocks_json(Blocks* blocks, Texts* texts) {
  std::vector<Blocks::iterator> order;
  for (auto block = blocks->begin(); block != blocks->end(); ++block) order.push_back(block);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a->first.first.empty() != b->first.first.empty()) return a->first.first.empty();
    return a->second.ticks > b->second.ticks;
  });
  HtmlJson list = HtmlJson::array();
  for (const auto& block : order) list.push_back(block_json(block->first, &block->second, texts));
  return list;
}

/// Which lines of a file are shown: those with code, and what stands around them.
std::set<uint32_t> around(const std::set<uint32_t>& lines, size_t last) {
  std::set<uint32_t> shown;
  for (uint32_t line : lines)
    for (size_t near = line - std::min<size_t>(line - 1, kAround); near <= std::min(line + kAround, last);
         ++near)
      shown.insert(static_cast<uint32_t>(near));
  return shown;
}

}  // namespace

void SourceParts::add(const HotFunction& function, int64_t number) {
  Annotator annotator(profile_, names_, function, Syntax::kAtt);
  const Annotation& annotation = annotator.annotation();
  const std::vector<size_t> shown = shown_instructions(annotator);
  const std::vector<std::vector<Frame>> frames = annotator.frames(shown);
  if (annotation.problem.empty()) annotator.find_targets(shown);
  const uint64_t start = annotation.instructions.empty() ? 0 : annotation.instructions[0].instruction.address;
  const BuildId& build_id = profile_.executables[function.executable].build_id;
  const Symbolizer& symbolizer = names_.symbolizer(function.executable);
  Blocks blocks;
  for (size_t i = 0; i < shown.size(); ++i) {
    const AnnotatedInstruction& row = annotation.instructions[shown[i]];
    const Frame frame = frames[i].empty() ? Frame{} : frames[i].front();
    const std::string inlined =
        frames[i].size() > 1 ? short_function_name(frame.function, frame.linkage) : "";
    Block& block = blocks[{inlined, frame.file}];
    Line& line = block.lines[frame.line];
    block.ticks += row.ticks.ticks;
    line.ticks += row.ticks.ticks;
    const std::optional<size_t> target = annotator.jump_target(shown[i]);
    const int64_t leads =
        target ? static_cast<int64_t>(annotation.instructions[*target].instruction.address - start) : -1;
    const std::string code = annotation.problem.empty() ? code_text(annotator, shown[i]) : "";
    if (has_real_places(function))
      line.instructions.push_back(
          HtmlJson::array({row.instruction.address - start, texts_->number(code), row.ticks.ticks, leads}));
    if (frame.line == 0) continue;
    used_[frame.file].insert(frame.line);
    sources_.named_by(symbolizer.owner_to_share(), build_id, frame.file);
  }
  for (const std::string& file : with_sources_ ? annotation.files : std::set<std::string>()) {
    sources_.named_by(symbolizer.owner_to_share(), build_id, file);
    SourceChange& worst = changes_[file];
    worst = std::max(worst, annotator.change_of_source(file, sources_));
  }
  functions_.push_back({{"function", number},
                        {"problem", texts_->shown(annotation.problem)},
                        {"left_out", annotation.instructions.size() - shown.size()},
                        {"blocks", blocks_json(&blocks, texts_)}});
}

void SourceParts::leave_out(int64_t number, const std::string& problem) {
  functions_.push_back({{"function", number},
                        {"problem", texts_->shown(problem)},
                        {"left_out", 0},
                        {"blocks", HtmlJson::array()}});
}

HtmlJson SourceParts::file_json(const std::string& path, const std::set<uint32_t>& lines) {
  HtmlJson list = HtmlJson::array();
  HtmlJson json = {{"path", texts_->number_of_path(path)}};
  const SourceFile& source = sources_.file(path);
  std::string problem = with_sources_ ? source.problem : "left out";
  if (problem.empty() && !source.is_for_all)
    problem = kNotForAll;
  else if (problem.empty()) {
    for (uint32_t line : around(lines, source.lines.size())) {
      list.push_back(line);
      list.push_back(escaped(sources_.line(path, line)));
    }
    if (!list.empty()) files_.push_back(sources_.mapped(path));
  }
  json["problem"] = texts_->shown(problem);
  const auto change = changes_.find(path);
  json["changed"] = problem.empty() && change != changes_.end() ? static_cast<int>(change->second) : 0;
  json["lines"] = std::move(list);
  return json;
}

std::vector<std::string> SourceParts::take(HtmlJson* data) {
  HtmlJson& files = (*data)["files"] = HtmlJson::array();
  for (const auto& [path, lines] : used_) files.push_back(file_json(path, lines));
  (*data)["sources"] = std::move(functions_);
  return std::move(files_);
}

}  // namespace pctally
