#include "names/kept_symbolizer.h"

#include <algorithm>
#include <tuple>

namespace pctally {
namespace {

bool is_named(std::string_view name) { return !name.empty() && name[0] != '['; }

/// Files have the same name for every address that they hit. Where a function of one only surrounds an
/// address that another hit, functions may overlap; then the one that starts last gives the name, in any
/// order of files.
bool is_lesser_name(const KeptName& a, const KeptName& b) {
  const auto rank = [](const KeptName& found) {
    const NamesRange& range = *found.range;
    const std::string_view name = found.section->text(range.name);
    return std::tuple(is_named(name), found.is_hit, range.start, UINT64_MAX - range.end, name,
                      found.section->text(range.linkage));
  };
  return rank(a) < rank(b);
}

/// The positions that each of an object's ranges names: from its first hit to its last, and on both sides as
/// far as the range goes. Before the first hit it ends at the end of the range before; behind the last hit,
/// at the first hit of the next range.
void add_pieces(const NamesSection& section, std::span<const NamesRange> ranges,
                std::vector<Piece<KeptName>>* pieces) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const NamesRange& range = ranges[i];
    const uint64_t before = i == 0 ? 0 : ranges[i - 1].end;
    const uint64_t behind = i + 1 == ranges.size() ? UINT64_MAX : ranges[i + 1].first_hit;
    const auto add = [&](uint64_t first, uint64_t end, bool is_hit) {
      if (first < end) pieces->push_back({first, end, {&section, &range, is_hit}});
    };
    add(std::max(range.start, before), range.first_hit, false);
    add(range.first_hit, range.last_hit + 1, true);
    add(range.last_hit + 1, std::min(range.end, behind), false);
  }
}

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

const KeptName* KeptSymbolizer::find(uint64_t position) {
  if (!names_) {
    std::vector<Piece<KeptName>> pieces;
    for (const KeptObject& kept : objects_)
      add_pieces(*kept.section, kept.section->ranges(kept.object), &pieces);
    names_ = overlay(std::move(pieces), &is_lesser_name);
  }
  const Piece<KeptName>* piece = piece_at(std::span<const Piece<KeptName>>(*names_), position);
  return piece == nullptr ? nullptr : &piece->value;
}

const KeptLines* KeptSymbolizer::find_lines(uint64_t position) {
  if (!lines_) {
    lines_ = lines_of(objects_);
    for (const KeptObject& kept : objects_)
      if (!kept.section->places(kept.object).empty()) line_owners_.insert(kept.owner);
  }
  const Piece<KeptLines>* piece = piece_at(std::span<const Piece<KeptLines>>(*lines_), position);
  return piece == nullptr ? nullptr : &piece->value;
}

std::vector<NamedRange> KeptSymbolizer::find_names(std::span<const uint64_t> positions) {
  std::vector<NamedRange> result(positions.size());
  std::vector<uint64_t> asked;
  std::vector<size_t> places;
  bool asks = false;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (const KeptName* found = find(positions[i])) {
      const NamesRange& range = *found->range;
      result[i] = {std::string(found->section->text(range.name)), range.start, range.end,
                   std::string(found->section->text(range.linkage)), range.address};
    }
    if (is_named(result[i].function)) continue;
    asks = asks || result[i].function.empty();
    asked.push_back(positions[i]);
    places.push_back(i);
  }
  missed_ = missed_ || asks;
  // Nothing names text now that the executable did not name when it ran, unless a debug file has come.
  if (asked.empty() || !(asks || executable().has_other_names())) return result;
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
    if (const KeptLines* lines = find_lines(positions[i])) {
      result[i] = lines->frames();
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

/// Root records and archives what others make: the files that they name may not be shown for root's sake.
std::optional<uid_t> KeptSymbolizer::owner() const {
  std::set<std::optional<uid_t>> owners;
  if (gave_kept_) owners = line_owners_;
  if (gave_executable_) owners.insert(executable_->owner());
  if (owners.size() != 1) return {};
  const std::optional<uid_t> one = *owners.begin();
  const bool of_others = gave_kept_ || identity_.kind == ExecutableIdentity::Kind::kPrivate;
  return of_others && one == 0u ? std::nullopt : one;
}

CodeBytes KeptSymbolizer::code(uint64_t start, uint64_t end) {
  const bool may_cut = identity_.kind != ExecutableIdentity::Kind::kPrivate;
  const NamesRange* shortest = nullptr;  // of those that hold the function
  CodeView code;                         // of these, the greatest, as of parts_of()
  for (const KeptObject& kept : objects_)
    for (const NamesRange& range : kept.section->ranges(kept.object)) {
      if (range.start != start || range.end < end || range.code.bytes == 0 || end < start) continue;
      if (range.end != end && !may_cut) continue;
      if (shortest != nullptr && shortest->end < range.end) continue;
      const CodeView other = code_of(kept, range);
      const bool equally_long = shortest != nullptr && shortest->end == range.end;
      if (equally_long && (other.bytes.data() == code.bytes.data() || other <= code)) continue;
      shortest = &range;
      code = other;
    }
  if (shortest != nullptr) {
    const std::string_view bytes = code.bytes.substr(0, end - start);
    return {.address = shortest->address != 0 ? shortest->address : start,
            .bytes = {bytes.begin(), bytes.end()},
            .machine = code.machine,
            .changed_unix_ns = code.changed_unix_ns};
  }
  code_missed_ = true;
  return executable().code(start, end);
}

SourceDigests KeptSymbolizer::digests(std::span<const uint64_t> positions) {
  std::vector<uint64_t> asked;
  for (const uint64_t position : positions)
    if (find_lines(position) == nullptr) asked.push_back(position);
  return asked.empty() ? SourceDigests{} : executable().digests(asked);
}

std::optional<uint64_t> KeptSymbolizer::position(uint64_t address) {
  if (!addresses_) {
    std::vector<Piece<const NamesRange*>> pieces;
    for (const KeptObject& kept : objects_)
      for (const NamesRange& range : kept.section->ranges(kept.object))
        if (const uint64_t bytes = range.end - range.start; range.address != 0)
          pieces.push_back(
              {range.address, range.address + std::min(bytes, UINT64_MAX - range.address), &range});
    addresses_ = overlay(std::move(pieces), [](const NamesRange* a, const NamesRange* b) {
      return std::tie(a->start, a->address) < std::tie(b->start, b->address);
    });
  }
  const auto* piece = piece_at(std::span<const Piece<const NamesRange*>>(*addresses_), address);
  if (piece != nullptr) return piece->value->start + (address - piece->value->address);
  return executable().position(address);
}

}  // namespace pctally
