// A limit that a change must keep to: "share(f) > +2pp", "seconds(f) > +10%", "total(f) > +10%", "total >
// +3%". What fails a build.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/diff/diff.h"

namespace pctally {

struct Limit {
  enum class Metric { kShare, kSeconds, kFunctionTotal, kTotal };
  Metric metric = Metric::kTotal;
  std::string function;   ///< but of kTotal: the row's name, full or short
  bool relative = false;  ///< `value` is in percent of the old amount
  bool change = true;     ///< the change is limited; else the new amount itself
  double value = 0;       ///< percent points, percent, or ms
  std::string text;       ///< as it was written
};

/// LIMIT = METRIC > [+]NUMBER UNIT. METRIC: share(NAME), seconds(NAME), total(NAME), which is the time of
/// a function with all it calls, or total, which is that of the whole. A sign limits the change, no
/// sign the new amount. UNIT: pp (percent points, share), % (of the old amount with a sign; of all ticks for
/// share without), ms, s. Error: EINVAL with what is wrong.
Result<Limit> parse_limit(std::string_view text);

/// One limit a line; empty lines and comments, which begin with '#', are skipped. Error: EINVAL with the
/// line's number.
Result<std::vector<Limit>> parse_limits(std::string_view lines);

struct LimitResult {
  enum class Outcome { kPass, kFail, kUndecided };
  Limit limit;
  Outcome outcome = Outcome::kUndecided;
  double measured = 0;  ///< in the limit's unit; infinite: the old side has nothing to take a percentage of
  Interval interval{};  ///< of it, 95 %: whatever the limit is; `high` may be infinite
  size_t runs_needed =
      0;  ///< kUndecided: a side, to decide it if the measured value is the true one; 0: not known
  std::string line{};     ///< the whole name of the line, where the limit has the end of its path
  bool nameless = false;  ///< kUndecided: code of its rows' objects has no names on one side
  bool in_doubt = false;  ///< kUndecided: call paths that are cut, folded or not kept may hold as much
  bool gone = false;      ///< kPass: the new side has no tick of it, and no function of its short name
  std::string
      other_name{};  ///< kUndecided: that a side has the function under another name, perhaps; escaped
};

/// "PASS", "FAIL", "UNDECIDED"
const char* outcome_word(LimitResult::Outcome outcome);

/// The unit of LimitResult::measured: "%", "pp", "ms".
const char* unit_of(const Limit& limit);

/// Only for an interval that reaches as far below the measured value as above it: that of a ratio does not,
/// nor one that ends at 0.
std::optional<double> half_width(const LimitResult& result);

/// What was measured: "+23.1 ± 4.2 ms", "+42 % (-8 to +118 %)", "1 ms (0 to 3 ms)"; with a sign if the limit
/// is on the change.
std::string measured_text(const LimitResult& result);

/// What else a reader of the outcome must know; of one line, escaped.
std::vector<std::string> remarks_of(const LimitResult& result);

/// What was measured and the remarks in one line; and with the limit before them. Escaped.
std::string text_with_remarks(const LimitResult& result);
std::string text_of(const LimitResult& result);

/// Fails if the whole 95 % interval lies above the limit, passes if all of it lies at or below, else is
/// undecided; so it is where Diff::is_in_doubt(object), and where a side has another row instead
/// (LimitedRows), or a total is in doubt. A rise in percent from nothing has no upper end. Error: EINVAL if
/// the limit names a row of neither side (a limit on nothing must not pass), is a time where the profiles
/// count events, or is on the total of several functions, or of profiles without call paths.
Result<LimitResult> check_limit(const Diff& diff, const Limit& limit);

}  // namespace pctally
