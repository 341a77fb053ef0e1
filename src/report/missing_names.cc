#include "report/missing_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
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

}  // namespace

void add_missing_names(const Profile& profile, ObjectNames& names, bool lines,
                       std::vector<Warning>* warnings) {
  for (std::span<const WeightedPosition> rest = profile.positions; !rest.empty();) {
    const uint32_t executable = rest.front().executable;
    const auto next = std::ranges::find_if(
        rest, [executable](const WeightedPosition& position) { return position.executable != executable; });
    const auto positions = rest.first(static_cast<size_t>(next - rest.begin()));
    rest = rest.subspan(positions.size());
    const Missing missing = missing_names(positions, lines, names.symbolizer(executable));
    const double share = percent_of(missing.ticks, profile.ledger.ticks());
    if (missing.why.empty() || share < 100 * kNamesWorthHaving) continue;
    std::string text = fmt::format("{} has {}{:.1f} % of the ticks): {}", names.shown(executable),
                                   missing.what, share, missing.why);
    if (is_made_code(profile.executables[executable]) && share >= 100 * kHintsFrom)
      text += std::string("; ") + way_to_names(profile, profile.executables[executable]);
    warnings->push_back({Severity::kNote, missing.id, std::move(text)});
  }
}

}  // namespace pctally
