#include "tool/archive/contents.h"

#include <fmt/format.h>

#include <algorithm>

#include "names/names_section.h"
#include "report/annotate/annotation.h"
#include "report/path_totals.h"
#include "report/print/directories.h"
#include "tool/debuginfod_option.h"
#include "tool/load_profiles.h"

namespace pctally {
namespace {

bool is_hot(const HotFunction& function, uint64_t ticks, const Profile& profile) {
  const auto all = static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1));
  return !function.is_whole_object() && static_cast<double>(ticks) >= kHotFrom * all;
}

using Place = std::pair<uint32_t, uint64_t>;  ///< executable and position

/// Ticks in what was called from each place; several times where it recurs on a path.
std::map<Place, uint64_t> ticks_called_from(const PathTree& tree) {
  const std::vector<uint64_t> below = ticks_below(tree);
  std::map<Place, uint64_t> places;
  for (size_t i = 0; i < tree.size(); ++i)
    if (tree[i].kind == PathNodeKind::kCode)
      places[{tree[i].executable, tree[i].position}] += below[i] - tree[i].self;
  return places;
}

std::string text_of(const SourceFile& source) {
  std::string text;
  for (const std::string& line : source.lines) text.append(line).append(1, '\n');
  if (text.size() > kMostSource) text.pop_back();  // the last line may have had no end
  return text;
}

}  // namespace

ArchiveContents::ArchiveContents(const Profile& profile, const ArchiveOptions& options)
    : options_(options), sources_({}, &kept_source, source_fetcher()) {
  ObjectNames names(profile, &open_symbolizer);
  for (const HotFunction& function : hot_functions(profile, names))
    if (is_hot(function, function.ticks, profile)) add_code(profile, function, names);
  add_callers(profile, names);
  for (const HitPlaces& hit : hit_places(profile)) add_object(profile, hit, names);
  if (options_.sources) add_sources();
  if (!writer_.empty()) section_ = writer_.bytes();
}

std::string ArchiveContents::shown(const std::string& source) {
  return options_.strip_paths ? stripped_.name(source) : source;
}

template <class Named>
void ArchiveContents::strip_names(bool made_at_run_time, std::vector<Named>* all) const {
  if (!options_.strip_paths) return;
  for (Named& named : *all)
    for (std::string* name : {&named.function, &named.linkage})
      *name = made_at_run_time ? jit_name_without_directories(*name) : text_without_directories(*name);
}

void ArchiveContents::add_code(const Profile& profile, const HotFunction& function, ObjectNames& names) {
  Symbolizer& symbolizer = names.symbolizer(function.executable);
  CodeBytes code = symbolizer.code(function.range.start, function.range.end);
  Parts& parts = parts_[function.executable];
  const Disassembler disassembler(code, Syntax::kAtt);
  std::set<uint64_t> positions(function.positions.begin(), function.positions.end());
  for (const Instruction& instruction : disassembler.instructions()) {
    const uint64_t at = function.range.start + (instruction.address - code.address);
    parts.places[at] = instruction.length;
    positions.insert(at);
    if (instruction.target == 0) continue;
    if (auto position = symbolizer.position(instruction.target)) parts.targets.push_back(*position);
  }
  if (!code.bytes.empty()) parts.code[{function.range.start, function.range.end}] = std::move(code);
  note_sources(symbolizer, {positions.begin(), positions.end()},
               profile.executables[function.executable].build_id);
}

/// Functions that mostly call others have hot lines, too.
void ArchiveContents::add_callers(const Profile& profile, ObjectNames& names) {
  const std::map<Place, uint64_t> called = ticks_called_from(profile.paths.context);
  for (const HotFunction& function : calling_functions(profile, names)) {
    uint64_t ticks = 0;
    for (const uint64_t position : function.positions) ticks += called.at({function.executable, position});
    if (!is_hot(function, ticks, profile)) continue;
    note_sources(names.symbolizer(function.executable), function.positions,
                 profile.executables[function.executable].build_id);
  }
}

/// Names first, as a section has them: an object with all its ranges, then the code and the lines in it.
void ArchiveContents::add_object(const Profile& profile, const HitPlaces& hit, ObjectNames& names) {
  Symbolizer& symbolizer = names.symbolizer(hit.executable);
  Parts& parts = parts_[hit.executable];
  std::vector<uint64_t> positions = hit.positions;
  positions.insert(positions.end(), parts.targets.begin(), parts.targets.end());
  std::ranges::sort(positions);
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::vector<NamedRange> ranges = symbolizer.name(positions);
  ExecutableIdentity identity = identity_of(profile, profile.executables[hit.executable]);
  if (options_.strip_paths) identity.path = without_directories(identity.path);
  const bool made_at_run_time = identity.kind == ExecutableIdentity::Kind::kPrivate;
  strip_names(made_at_run_time, &ranges);
  const FunctionCode code = views_of(parts.code);
  writer_.add_object(identity, code.empty() ? CodeView{} : code.begin()->second);
  writer_.add_ranges(positions, ranges);
  writer_.add_code(code);
  for (const uint64_t position : hit.positions) parts.places.try_emplace(position, 1);
  add_places(symbolizer, made_at_run_time, parts);
}

void ArchiveContents::add_places(Symbolizer& symbolizer, bool made_at_run_time, const Parts& parts) {
  std::vector<uint64_t> positions;
  for (const auto& [position, bytes] : parts.places) positions.push_back(position);
  std::vector<std::vector<Frame>> frames = symbolizer.frames(positions);
  // Code without a line, as that of a PLT, is distinguished from lines that could not be read.
  const bool all_read = symbolizer.problem().empty() && symbolizer.line_problem().empty();
  for (size_t i = 0; i < positions.size(); ++i) {
    if (frames[i].empty() && !all_read) continue;
    // A place inside an instruction, where a tick was counted, begins one of its own.
    const uint64_t room = i + 1 < positions.size() ? positions[i + 1] - positions[i] : UINT32_MAX;
    const uint64_t bytes = std::min<uint64_t>(parts.places.at(positions[i]), room);
    for (Frame& frame : frames[i]) frame.file = shown(frame.file);
    strip_names(made_at_run_time, &frames[i]);
    writer_.add_place(positions[i], static_cast<uint32_t>(bytes), frames[i]);
  }
}

void ArchiveContents::note_sources(Symbolizer& symbolizer, const std::vector<uint64_t>& positions,
                                   const BuildId& build_id) {
  for (const std::vector<Frame>& frames : symbolizer.frames(positions)) {
    for (const Frame& frame : frames) {
      if (frame.file.empty()) continue;
      named_.insert(frame.file);
      sources_.named_by(symbolizer.owner_to_share(), build_id, frame.file);
    }
  }
  digests_.merge(symbolizer.digests(positions));
}

/// By its MD5: then it does not matter when it was changed.
bool ArchiveContents::is_proven(const std::string& path, const SourceFile& source) const {
  return source.md5 && digests_.contains({path, *source.md5});
}

/// What SourceFiles reads goes in only if everybody may read it, and if it is not known to be another than
/// the one that was compiled.
std::string ArchiveContents::reason_against(const std::string& path, const SourceFile& source) const {
  if (!source.problem.empty()) return source.problem;
  if (!source.is_for_all) return kNotForAll;
  const bool changed = change_of(source, path, digests_, 0) == SourceChange::kDiffers;
  return changed ? "changed since it was compiled (another MD5)" : "";
}

void ArchiveContents::add_sources() {
  for (const std::string& path : named_) {
    const SourceFile& source = sources_.file(path);
    std::string why = reason_against(path, source);
    if (source.problem == kSourcesDiffer) (void)writer_.add_source(shown(path), "", kTextsDiffer);
    if (why.empty() && !writer_.add_source(shown(path), text_of(source),
                                           is_proven(path, source) ? 0 : source.changed_unix_ns))
      why = "no room: a profile holds 1 GiB of names and sources";
    if (why.empty())
      in_.push_back(shown(path));
    else
      left_out_.push_back(why.find(path) == std::string::npos ? fmt::format("{}: {}", path, why) : why);
  }
}

}  // namespace pctally
