#include "names/kept_symbolizer.h"

#include <algorithm>
#include <tuple>

namespace pctally {
namespace {

bool is_hit(const NamesRange& range, uint64_t position) {
  return range.first_hit <= position && position <= range.last_hit;
}

bool is_in(const NamesRange& range, uint64_t position) {
  return range.start <= position && position < range.end;
}

/// Among an object's ranges in one file, the one that names a position, or null. A position that the file
/// knows has exactly one; any other may lie in the function before or behind it.
const NamesRange* range_at(std::span<const NamesRange> ranges, uint64_t position) {
  const auto behind = std::ranges::upper_bound(ranges, position, {}, &NamesRange::first_hit);
  const NamesRange* before = behind == ranges.begin() ? nullptr : &*(behind - 1);
  if (before != nullptr && is_in(*before, position)) return before;
  return behind != ranges.end() && is_in(*behind, position) ? &*behind : nullptr;
}

bool is_named(std::string_view name) { return !name.empty() && name[0] != '['; }

}  // namespace

KeptSymbolizer::KeptSymbolizer(ExecutableIdentity identity, std::vector<KeptObject> objects,
                               OpenExecutable open)
    : identity_(std::move(identity)),
      object_name_(object_name_of(identity_)),
      objects_(std::move(objects)),
      open_(std::move(open)) {}

Symbolizer& KeptSymbolizer::executable() {
  if (!executable_) executable_ = open_(identity_);
  return *executable_;
}

const std::string& KeptSymbolizer::problem() const {
  static const std::string none;
  return missed_ && executable_ ? executable_->problem() : none;
}

const std::string& KeptSymbolizer::code_problem() const {
  static const std::string none;
  return code_missed_ && executable_ ? executable_->code_problem() : none;
}

const std::string& KeptSymbolizer::line_problem() const {
  static const std::string none;
  if (!lines_missed_ || !executable_) return none;
  return executable_->problem().empty() ? executable_->line_problem() : executable_->problem();
}

/// Files agree on what they have hit. Where one of them only surrounds what another has hit, functions
/// overlap: the one that starts last names the text. Nothing depends on the order of the files.
KeptSymbolizer::Found KeptSymbolizer::find(uint64_t position) const {
  Found best;
  auto rank = [position](const Found& found) {
    const NamesRange& range = *found.range;
    const std::string_view name = found.section->text(range.name);
    return std::tuple(is_named(name), is_hit(range, position), range.start, UINT64_MAX - range.end, name,
                      found.section->text(range.linkage));
  };
  for (const KeptObject& kept : objects_) {
    const Found found{kept.section, range_at(kept.section->ranges(kept.object), position)};
    if (found.range != nullptr && (best.range == nullptr || rank(found) > rank(best))) best = found;
  }
  return best;
}

std::vector<NamedRange> KeptSymbolizer::find_names(std::span<const uint64_t> positions) {
  std::vector<NamedRange> result(positions.size());
  std::vector<uint64_t> asked;
  std::vector<size_t> places;
  for (size_t i = 0; i < positions.size(); ++i) {
    const Found found = find(positions[i]);
    if (found.range != nullptr) {
      const NamesRange& range = *found.range;
      result[i] = {std::string(found.section->text(range.name)), range.start, range.end,
                   std::string(found.section->text(range.linkage)), range.address};
    }
    if (is_named(result[i].function)) continue;
    missed_ = missed_ || result[i].function.empty();
    asked.push_back(positions[i]);
    places.push_back(i);
  }
  if (asked.empty()) return result;
  std::vector<NamedRange> named = executable().name(asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    NamedRange& kept = result[places[i]];
    if (kept.function.empty() || is_named(named[i].function)) kept = std::move(named[i]);
  }
  return result;
}

std::vector<std::vector<Frame>> KeptSymbolizer::find_frames(std::span<const uint64_t> positions) {
  std::vector<std::vector<Frame>> result(positions.size());
  std::vector<uint64_t> asked;
  std::vector<size_t> places;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (auto frames = frames_at(objects_, positions[i])) {
      result[i] = std::move(*frames);
      gave_kept_ = true;
      continue;
    }
    asked.push_back(positions[i]);
    places.push_back(i);
  }
  if (asked.empty()) return result;
  lines_missed_ = true;
  std::vector<std::vector<Frame>> found = executable().frames(asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    gave_executable_ = gave_executable_ || !found[i].empty();
    result[places[i]] = std::move(found[i]);
  }
  return result;
}

/// Root records what others make at run time: the files that it names may not be shown for root's sake.
std::optional<uid_t> KeptSymbolizer::owner() const {
  std::vector<std::optional<uid_t>> owners;
  if (gave_executable_) owners.push_back(executable_->owner());
  for (const KeptObject& kept : objects_)
    if (gave_kept_ && !kept.section->places(kept.object).empty()) owners.push_back(kept.owner);
  const bool one = !owners.empty() && std::ranges::count(owners, owners[0]) == std::ssize(owners);
  const bool is_for_root = identity_.kind == ExecutableIdentity::Kind::kPrivate && one && owners[0] == 0u;
  return one && !is_for_root ? owners[0] : std::nullopt;
}

CodeBytes KeptSymbolizer::code(uint64_t start, uint64_t end) {
  const bool may_cut = identity_.kind != ExecutableIdentity::Kind::kPrivate;
  const KeptObject* best = nullptr;
  const NamesRange* shortest = nullptr;  // of those that hold the function
  for (const KeptObject& kept : objects_)
    for (const NamesRange& range : kept.section->ranges(kept.object)) {
      if (range.start != start || range.end < end || range.code.bytes == 0 || end < start) continue;
      if (range.end != end && !may_cut) continue;
      if (shortest != nullptr && shortest->end <= range.end) continue;
      best = &kept;
      shortest = &range;
    }
  if (best != nullptr) {
    CodeBytes code = code_of(*best, *shortest);
    code.bytes.resize(std::min<uint64_t>(code.bytes.size(), end - start));
    return code;
  }
  code_missed_ = true;
  return executable().code(start, end);
}

SourceDigests KeptSymbolizer::digests(std::span<const uint64_t> positions) {
  std::vector<uint64_t> asked;
  for (const uint64_t position : positions)
    if (!frames_at(objects_, position)) asked.push_back(position);
  return asked.empty() ? SourceDigests{} : executable().digests(asked);
}

std::optional<uint64_t> KeptSymbolizer::position(uint64_t address) {
  for (const KeptObject& kept : objects_)
    for (const NamesRange& range : kept.section->ranges(kept.object))
      if (range.address != 0 && range.address <= address && address - range.address < range.end - range.start)
        return range.start + (address - range.address);
  return executable().position(address);
}

}  // namespace pctally
