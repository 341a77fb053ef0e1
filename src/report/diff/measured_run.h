// A profile as diff sees it: the ticks of each row, what a tick is worth, and its totals.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "report/diff/matching_lines.h"
#include "report/diff/matching_objects.h"
#include "report/rollup.h"
#include "report/statistics/change.h"

namespace pctally {

/// Where a line is in a run.
struct LinePlace {
  std::string name;  ///< "FILE:LINE"
  LineMatch match = LineMatch::kByNumber;
};

using DiffKey = std::tuple<std::string, std::string>;  ///< name (of a line: see `places`), object

/// What a row of a report is compared as: clones, and functions that only their addresses tell apart, as one.
/// For lines MatchingLines says it.
DiffKey key_of(const Row& row, Grouping by, const MatchingObjects& objects);

/// Effective ticks of an object: the ticks of a merged file may be nanoseconds.
struct NamedTicks {
  double all = 0;
  double nameless = 0;  ///< of code without a name; by line, without a line
};

struct MeasuredRun {
  std::map<DiffKey, uint64_t> ticks;
  std::map<DiffKey, std::string> linkage;   ///< of functions whose symbol is another word
  std::map<DiffKey, LinePlace> places;      ///< of lines: the name of the row
  std::map<DiffKey, uint64_t> on_path;      ///< with any function of that key on the call path
  uint64_t unknown_paths = 0;               ///< ticks of paths that are cut, folded or not kept
  uint64_t unknown_kernel_paths = 0;        ///< the same, where the kernel's part may be hidden
  std::set<std::string> kernel_objects;     ///< of rows with kernel functions
  std::map<std::string, NamedTicks> named;  ///< of each object, by function and by line
  bool has_paths = false;
  size_t added = 1;  ///< runs that it is the sum of; amounts are their mean
  std::vector<Measured> totals,
      cpu_totals;  ///< of each of them; the second empty where it is not known of all
  double total_ticks = 0;
  double per_tick = 0;  ///< amount of one tick
  double design = 1;    ///< ticks for one effective tick
};

/// The symbol of the row, of the first run that has one; empty: none has.
std::string linkage_of(const DiffKey& key, const std::vector<MeasuredRun>& runs);

/// Amounts are per unit of `work` that a run did. Rows have the new names of their objects.
/// `report`: of the profile, with all rows, and by function with ReportOptions::path_functions.
MeasuredRun measure(const Profile& profile, const Report& report, double work, const MatchingObjects& objects,
                    const MatchingLines& lines);

}  // namespace pctally
