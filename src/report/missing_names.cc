#include "report/missing_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "report/print/figures.h"
#include "report/runtime_hints.h"

namespace pctally {
namespace {

constexpr double kNamesWorthHaving = 0.005;  ///< share of an object whose missing names are mentioned

/// Ticks at those positions of one executable that have no line.
uint64_t ticks_without_line(std::span<const WeightedPosition> positions, Symbolizer& symbolizer) {
  uint64_t ticks = 0;
  std::vector<uint64_t> asked;
  for (const WeightedPosition& position : positions) asked.push_back(position.position);
  visit_frames(symbolizer, asked, [&](size_t i, const std::vector<Frame>& frames) {
    if (frames.empty()) ticks += positions[i].ticks;
  });
  return ticks;
}

/// What is missing of an executable, and the ticks that are.
struct Missing {
  const char* id = "no-names";
  const char* what = "no names (";
  uint64_t ticks = 0;
  std::string why;
};

Missing missing_names(std::span<const WeightedPosition> positions, bool lines, Symbolizer& symbolizer) {
  Missing missing;
  for (const WeightedPosition& position : positions) missing.ticks += position.ticks;
  missing.why = symbolizer.problem();
  if (!missing.why.empty() || !lines || symbolizer.line_problem().empty()) return missing;
  const uint64_t without = ticks_without_line(positions, symbolizer);
  missing.why = symbolizer.line_problem();
  missing.id = "no-lines";
  missing.what = "no inlined functions (up to ";
  if (without == 0) return missing;
  const uint64_t all = std::exchange(missing.ticks, without);
  missing.what = missing.ticks == all ? "no lines (" : "lines only in part (none for ";
  return missing;
}

/// What one executable lacks, of more ticks than none.
struct Lack {
  uint32_t executable;
  Missing missing;
  double percent;
};

std::vector<Lack> lacks_of(const Profile& profile, ObjectNames& names, bool lines) {
  std::vector<Lack> lacks;
  for (std::span<const WeightedPosition> rest = profile.positions; !rest.empty();) {
    const uint32_t executable = rest.front().executable;
    const auto next = std::ranges::find_if(
        rest, [executable](const WeightedPosition& position) { return position.executable != executable; });
    const auto positions = rest.first(static_cast<size_t>(next - rest.begin()));
    rest = rest.subspan(positions.size());
    Missing missing = missing_names(positions, lines, names.symbolizer(executable));
    const double percent = percent_of(missing.ticks, profile.ledger.ticks());
    if (!missing.why.empty()) lacks.push_back({executable, std::move(missing), percent});
  }
  return lacks;
}

std::string text_of(const Profile& profile, ObjectNames& names, const Lack& lack) {
  std::string text = fmt::format("{} has {}{:.1f} % of the ticks): {}", names.shown(lack.executable),
                                 lack.missing.what, lack.percent, lack.missing.why);
  const Executable& executable = profile.executables[lack.executable];
  if (is_made_code(executable) && lack.percent >= 100 * kHintsFrom)
    text += std::string("; ") + way_to_names(profile, executable);
  return text;
}

/// What several executables lack for one reason, most ticks first.
std::string text_of(ObjectNames& names, std::span<const Lack* const> lacks) {
  double percent = 0;
  for (const Lack* lack : lacks) percent += lack->percent;
  return fmt::format("{} objects have {}{:.1f} % of the ticks, the most in {}): {}", lacks.size(),
                     lacks[0]->missing.what, percent, names.shown(lacks[0]->executable),
                     lacks[0]->missing.why);
}

}  // namespace

void add_missing_names(const Profile& profile, ObjectNames& names, bool lines,
                       std::vector<Warning>* warnings) {
  constexpr size_t kMostNamed = 3;  ///< that lack the same for the same reason
  using Reason = std::tuple<std::string_view, std::string_view, uint32_t>;
  const std::vector<Lack> all = lacks_of(profile, names, lines);
  const auto reason_of = [&profile](const Lack& lack) {
    const bool made =
        is_made_code(profile.executables[lack.executable]);  // its names have a way of their own
    return Reason(lack.missing.what, lack.missing.why, made ? lack.executable + 1 : 0);
  };
  const auto worth_it = [](const Lack* lack) { return lack->percent >= 100 * kNamesWorthHaving; };
  std::map<Reason, std::vector<const Lack*>> alike;
  for (const Lack& lack : all) alike[reason_of(lack)].push_back(&lack);
  for (auto& [reason, lacks] : alike)
    std::ranges::stable_sort(lacks, std::greater{}, [](const Lack* lack) { return lack->percent; });
  for (const Lack& lack : all) {
    const std::vector<const Lack*>& lacks = alike[reason_of(lack)];
    const bool together = lacks.size() > kMostNamed && worth_it(lacks[kMostNamed]);  // the most ticks first
    if (together ? lacks.front() != &lack : !worth_it(&lack)) continue;
    warnings->push_back(
        {Severity::kNote, lack.missing.id, together ? text_of(names, lacks) : text_of(profile, names, lack)});
  }
}

}  // namespace pctally
