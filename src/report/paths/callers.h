// Finds the callers of a function, the lines of the calls, and its callees, among all ticks with it
// on the stack.
//
// A tick counts once for each caller, however often that call recurs on the stack; so under recursion the
// parts may add to more than the whole.
//
// An inlined function has also the ticks in its code, which is inlined into the function that ran. One of
// several symbols of an entry of the unwind table has its own ticks in paths that end in all of these.
//
// Where paths were folded the call plane has the figures. They are exact where one of its entries stands for
// the function or the call. Else they are ranges: from what the kept paths or the largest entry have, to what
// the folded paths or all entries have.
#pragma once
#include "report/names/called.h"
#include "report/paths/named_paths.h"
#include "report/rollup.h"

namespace pctally {

/// A function on one side of the one asked for.
struct CallerRow {
  StackFrame frame;               ///< a caller's, with file and line of the call
  std::vector<StackFrame> outer;  ///< where the caller was inlined: into what, innermost first
  uint64_t ticks = 0;             ///< at least
  uint64_t high = 0;              ///< at most; equal where it is known
  double share = 0;               ///< `ticks` of those with the function on the stack
  Interval interval;              ///< holds the whole range
  bool is_range = false;          ///< the range is worth a word
};

struct Callers {
  StackFrame function;
  uint64_t ticks = 0;     ///< with it on the stack, at least
  uint64_t folded = 0;    ///< of other paths, those that may belong here
  uint64_t unplaced = 0;  ///< in code of it that is inlined, or shared: of other paths, or counted already
  std::vector<StackFrame> entries;  ///< of the unwind table, which it shares with other symbols
  uint64_t unread = 0;              ///< without a known path, which may belong here, too
  bool has_all_calls = true;        ///< else some found no room: they may have no row
  double share = 0;                 ///< of all
  Interval interval;                ///< holds the whole range
  bool is_range = false;
  std::vector<CallerRow> callers;  ///< most ticks first
  std::vector<CallerRow> callees;  ///< "(itself)" among them
};

/// How well `text` names the function. "NAME (OBJECT)" names those of the object.
Called called_by(const StackFrame& frame, std::string_view text);

/// The functions that `text` names best. Distinct, most ticks first. A name of the table is that of its row,
/// and of an inlined function that has it, too.
/// `object`: only functions of objects whose name has it; null: of all.
std::vector<StackFrame> find_functions(const NamedPaths& paths, const std::string& text,
                                       const NamePattern* object = nullptr);

/// "NAME (OBJECT)": by this text find_functions() finds that function alone.
std::string listed_name(const StackFrame& frame);

/// REQUIRES: `function` came from find_functions().
Callers callers_of(const Profile& profile, const NamedPaths& paths, const StackFrame& function);

struct CallersTextOptions {
  bool color = false;
  NameStyle names = NameStyle::kShort;
  uint64_t limit = 10;  ///< rows in each part; 0: all
};
std::string callers_text(const Profile& profile, const Callers& callers, const CallersTextOptions& options);

/// "61 % parse_value, 12.0 to 40.0 % parse_object, 2 more": callers or callees, as callers_text() has them.
/// Empty if none is known.
std::string callers_line(const std::vector<CallerRow>& rows, NameStyle names);
/// `limit`: most rows in each part; 0: all.
std::string callers_json(const Profile& profile, const Callers& callers, uint64_t limit);

}  // namespace pctally
