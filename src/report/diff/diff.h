// Compares two sides of runs row by row: what changed, and how sure that is. Pure values.
//
// Refuses to call a row unchanged: a row without a proven change is undecided.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "report/diff/doubt.h"
#include "report/diff/family.h"
#include "report/diff/matching_objects.h"
#include "report/names/shown_names.h"
#include "report/rollup.h"
#include "report/statistics/change.h"

namespace pctally {

enum class Verdict { kUndecided, kMore, kLess, kNew, kGone };

/// "undecided", "more", "less", "new", "gone"
const char* verdict_word(Verdict verdict);

/// The sum over all runs of a side.
struct SideTicks {
  uint64_t ticks = 0;
  double effective = 0;  ///< the same in effective ticks
};

/// The amount of ticks whose paths are not known: any may be part of a total.
struct UnknownPaths {
  double before = 0, after = 0;
  [[nodiscard]] double change() const { return after - before; }
};

struct DiffRow {
  std::string name;                          ///< of the function (in full), object, line or process
  bool is_line = false;                      ///< the name is a file and a line
  std::string short_name;                    ///< as short_names() gives it
  std::string linkage;                       ///< the function's symbol, if it is not `name`
  std::string object;                        ///< where the name is a function's or a line's
  std::string old_place;                     ///< of a line that is elsewhere on the old side
  Change amount;                             ///< ms a run (or a unit of work); or events
  Change share;                              ///< percent of all ticks
  std::optional<Change> total, total_share;  ///< with it on the call path, where all runs have call paths
  SideTicks old_side, new_side;
  SideTicks old_on_path, new_on_path;  ///< where there is a total
  Verdict verdict = Verdict::kUndecided;
  Verdict total_verdict = Verdict::kUndecided;
  UnknownPaths unknown;         ///< that its total may have, too
  bool total_in_doubt = false;  ///< it changed, but by no more than these did

  [[nodiscard]] bool has_own_ticks() const { return old_side.ticks != 0 || new_side.ticks != 0; }

  /// Whether it calls what has ticks: else its total is its own amount.
  [[nodiscard]] bool has_callees() const {
    return total && (old_on_path.ticks != old_side.ticks || new_on_path.ticks != new_side.ticks);
  }
};

struct DiffOptions {
  Grouping by = Grouping::kFunction;
  double work = 1;      ///< units of work a run did: amounts are per unit
  double new_work = 0;  ///< the same of the new side; 0: as many
  double between_runs = kBetweenRuns;
  NameStyle names = NameStyle::kShort;
  std::vector<std::string> files{};  ///< what doubts call the profiles, those of the old side first
};

struct Diff {
  Grouping by = Grouping::kFunction;
  NameStyle names = NameStyle::kShort;
  std::string event;  ///< whose number is compared, as of Profile; empty: CPU time, in milliseconds
  double work = 1, new_work = 1;
  size_t old_runs = 0, new_runs = 0;
  size_t old_added = 0, new_added = 0;  ///< of these runs: those that are known as a sum alone
  bool deviation_assumed = false;       ///< nothing shows how rows vary from run to run
  DiffRow total;  ///< CPU time as the kernel accounts it where it is known, else the sampled amount
  std::vector<DiffRow>
      rows;  ///< decided rows first, then by the size of the change; last those without ticks
  size_t rows_with_ticks = 0;    ///< of their own, on either side: the first ones; others have a total alone
  size_t decided = 0;            ///< of the rows
  size_t decided_totals = 0;     ///< of the totals of rows that have callees
  Family family;                 ///< the tests that decided them
  MatchingObjects objects{};     ///< what the rows' objects are called on either side
  std::vector<Doubt> doubts;     ///< why the profiles cannot be relied on
  std::string blind_to_kernel;   ///< a profile for which kernel code is left out; empty: none is
  bool totals_left_out = false;  ///< for in folded call paths kernel code is not known
  std::string in_step;           ///< a profile whose ticks follow the kernel's clock; empty: none
  uint64_t clock_tick_ns = 0;    ///< of that clock
  double open_points =
      0;  ///< changes of a share by less are left undecided, as ticks come in step with starts

  [[nodiscard]] bool counts_cpu_time() const { return event.empty(); }
  /// Whether something is missing of this object's rows on one side.
  [[nodiscard]] bool is_in_doubt(const std::string& object) const;
  /// Whether a doubt concerns all rows.
  [[nodiscard]] bool is_in_doubt() const;
  [[nodiscard]] bool per_unit_of_work() const { return work != 1 || new_work != 1; }
  [[nodiscard]] bool one_run_a_side() const { return old_runs == 1 && new_runs == 1; }
};

/// The row's name in the style of the Diff.
inline std::string shown_name(const Diff& diff, const DiffRow& row) {
  return shown_name(diff.names, row.short_name, row.name, row.linkage);
}

inline constexpr double kFewestTicks =
    10;  ///< effective ticks of both sides below which nothing can be decided

/// Rows are matched by what they are called and the name of their object, clone suffixes aside, so that moved
/// text is the same row; lines as of MatchingLines. Code without a name is matched by address only within one
/// build of its object. Error: EINVAL if the profiles count different things.
Result<Diff> make_diff(const std::vector<Profile>& before, const std::vector<Profile>& after,
                       const OpenSymbolizer& open, const DiffOptions& options);

/// How much a row's amount varies from run to run.
struct RowDeviation {
  std::string name;
  double amount = 0;                              ///< mean of the runs, in the unit of a Diff
  double deviation = 0;                           ///< standard deviation of one run
  double counting = 0;                            ///< the part of it that is counting noise
  bool sampled = true;                            ///< else measured: no length of a run makes it surer
  std::string object{}, linkage{}, short_name{};  ///< this and the next as of DiffRow
  bool is_line = false;
};

/// How runs of one program deviate.
struct RunDeviations {
  std::vector<RowDeviation> rows{};  ///< the total, then the largest first
  Family family{};                   ///< of a comparison of such runs
  std::string event{};               ///< this and the following as of Diff
  std::vector<Doubt> doubts{};
  std::string blind_to_kernel{};
};

/// Error: as make_diff().
Result<RunDeviations> run_deviations(const std::vector<Profile>& runs, const OpenSymbolizer& open,
                                     const DiffOptions& options);

/// Rows of functions that call others: those whose total is decided first, then by the size of its change.
std::vector<const DiffRow*> rows_with_callees(const Diff& diff);

/// A rise that a comparison shall detect.
struct PlannedChange {
  double relative = 0;       ///< to the row's amount
  double level = kDiffRate;  ///< the p-value that decides it, as of Family::level_of()
  double power = 0.8;        ///< probability of detecting it
};

/// Runs a side that show it. 0: more than a million.
size_t runs_needed(const RowDeviation& row, const PlannedChange& change);

/// How much longer than now each of `runs` runs a side must be to show it. Only counting noise becomes less.
/// With one run a side, what diff assumes between runs stays. 0: no length is enough.
double length_needed(const RowDeviation& row, const PlannedChange& change, size_t runs);

/// The smallest change, relative, that one run a side shows, however long it is.
double smallest_of_one_run(const PlannedChange& change);

/// The smallest rise of `row` (in its amount) that would be decided four times in five, if it alone rose,
/// with as many runs as now. Infinite: none would be.
double visible_change(const Diff& diff, const DiffRow& row);

}  // namespace pctally
