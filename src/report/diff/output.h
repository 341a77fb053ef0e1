// A Diff as a table for people, as Markdown for a pull request, as JSON, as JUnit for a build server.
#pragma once
#include <string>
#include <vector>

#include "report/diff/diff.h"
#include "report/diff/limit.h"
#include "report/print/json_value.h"

namespace pctally {

struct DiffTextOptions {
  bool color = false;
  size_t width = 0;   ///< of the terminal; 0: names are not cut
  size_t limit = 20;  ///< most rows; 0: all
};

/// A unit that gives figures of this size three digits before the point at most.
struct AmountUnit {
  std::string name;  ///< "s", "ms", "us", "ns", or the event, escaped
  double scale = 1;  ///< of it in a millisecond, or an event
};
AmountUnit amount_unit(const Diff& diff, double amount);

/// One unit for the amounts of all rows: that of the largest, or of `most` if that is less.
AmountUnit unit_of_rows(const Diff& diff, double most);

/// The 95 % interval of a change, in percent of the old amount. REQUIRES: that is more than 0.
Interval rises_of(const Change& change);

/// "+42 % (-8 to +118 %)"; without an upper end "+42 % (-8 % to any rise)".
std::string percent_change(double percent, const Interval& ends);

/// The answer in one sentence: what the total did, by how much, of how many runs. CPU time in seconds.
std::string verdict_sentence(const Diff& diff);

/// What the change comes from: the decided rows that explain most of it; where the total is undecided, those
/// that changed most. Without any, the innermost function whose total has most of the change. Empty if there
/// is none. What changed the other way by half as much or more is named, too: a function may have another
/// name now, or be inlined elsewhere.
std::string cause_sentence(const Diff& diff);

/// What would have been seen; empty if anything is decided.
std::string power_sentence(const Diff& diff);

/// How many rows changed, and how many of these may be wrong.
std::string rate_sentence(const Diff& diff);

/// What ± is, and why a row may be undecided all the same.
std::string interval_sentence();

/// What is assumed of how runs differ, and why it is not known; empty if it was measured.
std::string deviation_sentence(const Diff& diff);

/// That user code alone is compared, and why; empty if the kernel's is, too.
std::string kernel_sentence(const Diff& diff);

/// That the ticks of a profile follow the kernel's clock, which no interval allows for; empty if none do.
std::string step_sentence(const Diff& diff);

/// That totals may differ only by what is unknown of the call paths; empty if none do.
std::string unknown_sentence(const Diff& diff);

/// What has to be known beside the verdict: those of the last three that are not empty.
std::vector<std::string> remarks_of(const Diff& diff);

/// Which objects are compared under two names; empty if none are.
std::string renamed_sentence(const Diff& diff);

std::string diff_text(const Diff& diff, const DiffTextOptions& options);
std::string limits_text(const std::vector<LimitResult>& results, bool color);
std::string diff_markdown(const Diff& diff, const std::vector<LimitResult>& results, size_t limit);
Json change_json(const Change& change);
/// One object, described by docs/diff.schema.json.
std::string diff_json(const Diff& diff, const std::vector<LimitResult>& results);

/// One test case a limit: a failure if it is exceeded or undecided, an error if it passes and there are
/// doubts.
std::string diff_junit(const Diff& diff, const std::vector<LimitResult>& results);

}  // namespace pctally
