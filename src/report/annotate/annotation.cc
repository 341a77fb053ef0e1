#include "report/annotate/annotation.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/line_totals.h"
#include "report/names/short_name.h"
#include "report/rollup.h"

namespace pctally {
namespace {

constexpr uint64_t kMostCode = 4 << 20;  ///< as of Symbolizer::code()

uint64_t start_address(const HotFunction& function) { return function.range.object_address(); }

/// "memcmp@plt", "main+0x12". Another function of the same name has its arguments: it would look like
/// recursion.
std::string target_text(const NamedRange& range, uint64_t position, const NamedRange& own) {
  if (range.function.empty() || range.function.starts_with('[')) return "";
  const auto name_of = [](const NamedRange& of, NameDetail detail) {
    return short_function_name(of.function, of.linkage, detail);
  };
  std::string name = name_of(range, NameDetail::kClone);
  if (range.start != own.start && name == name_of(own, NameDetail::kClone))
    name = name_of(range, NameDetail::kBoth);
  return position == range.start ? name : fmt::format("{}+0x{:x}", name, position - range.start);
}

}  // namespace

Annotator::Annotator(const Profile& profile, ObjectNames& names, const HotFunction& function, Syntax syntax)
    : profile_(profile),
      symbolizer_(names.symbolizer(function.executable)),
      function_(function),
      samples_(account_of(profile).effective_samples),
      disassembler_(symbolizer_.code(function.range.start, function.range.end), syntax) {
  annotation_.function = &function;
  annotation_.ticks = measured(function.ticks);
  if (disassembler_.readable())
    add_instructions();
  else
    add_places();
  add_lines();
  if (profile.paths.recorded) add_totals(names);
  std::stable_sort(
      annotation_.lines.begin(), annotation_.lines.end(), [](const AnnotatedLine& a, const AnnotatedLine& b) {
        return std::pair(a.total.ticks.low, a.ticks.ticks) > std::pair(b.total.ticks.low, b.ticks.ticks);
      });
}

TickShare Annotator::measured(uint64_t ticks) const {
  TickShare result;
  result.ticks = ticks;
  auto all = static_cast<double>(profile_.ledger.ticks());
  result.share = all > 0 ? static_cast<double>(ticks) / all : 0;
  result.interval = wilson_interval(result.share, samples_);
  return result;
}

MeasuredTotal Annotator::measured(const PathTotal& total) const {
  return {share_of_total(total, std::max<uint64_t>(profile_.ledger.ticks(), 1), samples_), total};
}

/// Within one function positions and addresses run side by side.
uint64_t Annotator::position_of(uint64_t address) const {
  return function_.range.start + (address - start_address(function_));
}

void Annotator::add_instructions() {
  std::vector<uint64_t> ticks;
  std::vector<Instruction> instructions = disassembler_.instructions();
  ticks.resize(instructions.size());
  size_t at = 0;
  for (size_t i = 0; i < function_.positions.size(); ++i) {
    const uint64_t address = start_address(function_) + (function_.positions[i] - function_.range.start);
    // A place inside an instruction counts for that instruction.
    while (at + 1 < instructions.size() && instructions[at + 1].address <= address) ++at;
    if (at < ticks.size()) ticks[at] += function_.position_ticks[i];
  }
  for (size_t i = 0; i < instructions.size(); ++i)
    annotation_.instructions.push_back({instructions[i], measured(ticks[i])});
}

std::string Annotator::why_no_instructions() const {
  if (!disassembler_.code().bytes.empty())
    return disassembler_.code().machine == EM_AARCH64
               ? "instructions of aarch64 cannot be read here; they need Capstone (libcapstone4)"
               : "instructions of this machine cannot be read here";
  if (function_.range.end - function_.range.start > kMostCode)
    return function_.range.function.starts_with('[') ? "more than 4 MiB of code without a name"
                                                     : "the function is larger than 4 MiB";
  return symbolizer_.code_problem().empty() ? "its code is not in the file" : symbolizer_.code_problem();
}

void Annotator::add_places() {
  annotation_.problem = why_no_instructions();
  for (size_t i = 0; i < function_.positions.size(); ++i) {
    Instruction place{.address = start_address(function_) + (function_.positions[i] - function_.range.start),
                      .length = 1,
                      .kind = Instruction::Kind::kBad};
    annotation_.instructions.push_back({place, measured(function_.position_ticks[i])});
  }
}

void Annotator::add_lines() {
  std::vector<std::vector<Frame>> frames = symbolizer_.frames(function_.positions);
  std::map<std::pair<std::string, uint32_t>, uint64_t> lines;
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame own = frames[i].empty() ? Frame{} : frames[i].back();
    lines[{own.file, own.line}] += function_.position_ticks[i];
    annotation_.has_lines = annotation_.has_lines || own.line != 0;
    for (const Frame& frame : frames[i])
      if (frame.line != 0) annotation_.files.insert(frame.file);
  }
  annotation_.line_problem = symbolizer_.line_problem();
  if (!annotation_.files.empty()) digests_ = symbolizer_.digests(function_.positions);
  for (const auto& [place, ticks] : lines)
    annotation_.lines.push_back({place.first, place.second, measured(ticks), {}});
}

uint32_t Annotator::line_of(const std::vector<Frame>& frames) {
  const Frame own = frames.empty() ? Frame{} : frames.back();
  const auto found = std::ranges::find_if(annotation_.lines, [&own](const AnnotatedLine& line) {
    return line.file == own.file && line.line == own.line;
  });
  if (found == annotation_.lines.end()) {
    annotation_.lines.push_back({own.file, own.line, {}, {}});
    annotation_.has_lines = annotation_.has_lines || own.line != 0;
    if (own.line != 0) annotation_.files.insert(own.file);
    return static_cast<uint32_t>(annotation_.lines.size() - 1);
  }
  return static_cast<uint32_t>(found - annotation_.lines.begin());
}

/// What a line calls counts for it.
void Annotator::add_totals(ObjectNames& names) {
  const PathFunctions functions = path_functions(profile_, names);
  const PathTree& tree = profile_.paths.context;
  const std::vector<bool> is_call = calls_of(tree);
  LineTotals totals(profile_, functions);
  std::map<uint64_t, std::vector<uint32_t>> calls;  // nodes of each position
  for (uint32_t i = 0; i < tree.size(); ++i)
    if (is_call[i] && is_in_function(tree[i])) calls[tree[i].position].push_back(i);
  std::vector<uint64_t> positions, own;
  for (const auto& [position, nodes] : calls) positions.push_back(position);
  const std::vector<std::vector<Frame>> frames = symbolizer_.frames(positions);
  for (size_t i = 0; i < frames.size(); ++i)
    for (uint32_t node : calls[positions[i]]) totals.add_call(node, line_of(frames[i]));
  const FunctionKey key =
      function_key(names, function_.executable, function_.range.function, function_.range.start);
  const auto number = std::ranges::find(functions.functions, key, &PathFunction::key);
  for (uint32_t line = 0; line < annotation_.lines.size(); ++line) {
    own.push_back(annotation_.lines[line].ticks.ticks);
    if (number != functions.functions.end())
      totals.add_own(line, static_cast<uint32_t>(number - functions.functions.begin()), own.back());
  }
  const std::vector<PathTotal> of_lines = totals.totals(own);
  for (size_t line = 0; line < of_lines.size(); ++line)
    annotation_.lines[line].total = measured(of_lines[line]);
  annotation_.with_totals = true;
  annotation_.total =
      measured(names.known_by_name(function_.executable) ? total_of_copy() : total_of_row(functions, names));
}

/// The total of this one of the copies that a JIT has made of a function.
PathTotal Annotator::total_of_copy() const {
  const PathTree& tree = profile_.paths.context;
  PathThings things{.count = 1,
                    .context = std::vector<uint32_t>(tree.size(), PathFunctions::kNone),
                    .plane = {},
                    .functions = false,
                    .part = {},
                    .context_part = {},
                    .plane_part = {}};
  for (size_t i = 0; i < tree.size(); ++i)
    if (tree[i].kind == PathNodeKind::kCode && is_in_function(tree[i])) things.context[i] = 0;
  PathTotal total = path_totals(profile_, things)[0];
  include_own(function_.ticks, &total);
  return total;
}

/// As report has it.
PathTotal Annotator::total_of_row(const PathFunctions& functions, ObjectNames& names) const {
  for (const Row& row : rows_by_function(profile_, names, &functions))
    if (row.object == function_.object && row.function == function_.range.function &&
        row.address == start_address(function_))
      return row.total;
  return {};
}

bool Annotator::is_in_function(const PathTreeNode& node) const {
  return node.executable == function_.executable && node.position >= function_.range.start &&
         node.position < function_.range.end;
}

std::vector<std::vector<Frame>> Annotator::frames(const std::vector<size_t>& instructions) {
  std::vector<uint64_t> positions;
  for (size_t index : instructions)
    positions.push_back(position_of(annotation_.instructions[index].instruction.address));
  return symbolizer_.frames(positions);
}

SourceChange Annotator::change_of_source(const std::string& path, SourceFiles& sources) const {
  return change_of(sources.file(path), path, digests_, disassembler_.code().changed_unix_ns);
}

InstructionText Annotator::text(size_t index) const {
  if (!disassembler_.readable()) return {"(no code)", ""};
  return disassembler_.text(annotation_.instructions[index].instruction);
}

std::optional<size_t> Annotator::instruction_at(uint64_t address) const {
  auto found = std::lower_bound(
      annotation_.instructions.begin(), annotation_.instructions.end(), address,
      [](const AnnotatedInstruction& a, uint64_t wanted) { return a.instruction.address < wanted; });
  if (found == annotation_.instructions.end() || found->instruction.address != address) return {};
  return static_cast<size_t>(found - annotation_.instructions.begin());
}

std::optional<size_t> Annotator::jump_target(size_t index) const {
  const Instruction& instruction = annotation_.instructions[index].instruction;
  if (instruction.kind != Instruction::Kind::kJump || instruction.target == 0) return {};
  return instruction_at(instruction.target);
}

void Annotator::find_targets(const std::vector<size_t>& instructions) {
  std::map<uint64_t, uint64_t> wanted;  // addresses by position
  for (size_t index : instructions) {
    const uint64_t target = annotation_.instructions[index].instruction.target;
    if (target == 0 || jump_target(index)) continue;
    if (auto position = symbolizer_.position(target)) wanted.emplace(*position, target);
  }
  std::vector<uint64_t> positions;
  for (const auto& [position, address] : wanted) positions.push_back(position);
  std::vector<NamedRange> ranges = symbolizer_.name(positions);
  for (size_t i = 0; i < positions.size(); ++i)
    targets_[wanted[positions[i]]] = target_text(ranges[i], positions[i], function_.range);
}

std::string Annotator::target_name(size_t index) const {
  auto found = targets_.find(annotation_.instructions[index].instruction.target);
  return found == targets_.end() || jump_target(index) ? "" : found->second;
}

}  // namespace pctally
