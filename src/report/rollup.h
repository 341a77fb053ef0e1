// A Profile added up into rows. The rows' ticks are the ledger's ticks, to the last one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "report/account/account.h"
#include "report/account/path_account.h"
#include "report/account/warnings.h"
#include "report/names/name_pattern.h"
#include "report/names/object_names.h"
#include "report/path_totals.h"
#include "report/statistics/interval.h"

namespace pctally {

enum class Grouping {
  kFunction,
  kObject,
  kLine,
  kProcess,
  kCommand,  ///< processes of one name
  kProgram,  ///< this and the following: profiles with scopes of the kind, or, by program, of threads
  kThread,
  kGroup,
  kProgramFunction,
  kThreadFunction,
  kGroupFunction,
};

/// "function", "object", ..., "program,function", and back; any other word is kFunction.
const char* grouping_word(Grouping by);
Grouping grouping_of(std::string_view word);

constexpr bool is_by_scope(Grouping by) { return by >= Grouping::kProgram; }
constexpr bool is_by_scope_and_function(Grouping by) { return by >= Grouping::kProgramFunction; }

/// Rows are of processes, whatever code they ran.
constexpr bool is_by_process(Grouping by) { return by == Grouping::kProcess || by == Grouping::kCommand; }

/// Rows are of whole processes, with the kernel code that they ran.
constexpr bool is_by_task(Grouping by) { return is_by_process(by) || is_by_scope(by); }

/// Rows that have callees: a total says more than their own ticks.
constexpr bool is_by_code(Grouping by) {
  return !is_by_process(by) && (!is_by_scope(by) || is_by_scope_and_function(by));
}

enum class RowOrder { kTicks, kTotal, kName, kObject };

/// Where ticks of a line lie inside it: file and line of each inlined frame, outermost first.
using InlinedLines = std::vector<std::pair<std::string, uint32_t>>;

/// The chain with most ticks, of the chains of lines inlined at one line.
struct HotChain {
  InlinedLines lines{};  ///< empty: the line has none
  uint64_t ticks = 0;
  uint64_t others = 0;  ///< how many there are besides
};

/// Which fields are filled depends on the grouping; pseudo rows such as "[lost]" have their name in
/// the first shown.
struct Row {
  std::string function;  ///< kFunction, kLine: the innermost inlined one; its full name. k...Function
  std::string object;    ///< kFunction, kObject, kLine, k...Function
  std::string file;      ///< kLine; empty if unknown
  uint32_t line = 0;
  uint32_t start_line = 0;  ///< kLine: where the function is declared, in `file`; 0: not known, or elsewhere
  InlinedLines inside;      ///< kLine, with chains as rows
  HotChain hot_chain;       ///< kLine, of own files, without them
  std::string process;      ///< kProcess, kCommand: its comm
  int32_t pid = 0;          ///< kProcess
  uint32_t processes = 0;   ///< kCommand: how many; 0: not known
  std::string note;
  std::string program;                 ///< by program and by thread, with functions, too: as shown
  std::string program_path;            ///< the same
  std::vector<uint8_t> program_build;  ///< the same: its build id
  std::string thread;                  ///< by thread
  std::string group;                   ///< by control group
  std::string short_function;          ///< kFunction, kLine: as name_rows() gives it
  std::string linkage;                 ///< of `function`, if it is not its name
  uint64_t address = 0;                ///< of a function: where it starts; 0: not known
  bool of_kernel = false;              ///< kFunction
  uint64_t ticks = 0;
  double share = 0;  ///< of all ticks
  Interval interval;
  PathTotal total;  ///< with call paths, but by process: ticks with it on the stack
  double total_share = 0;
  double most_total_share = 0;  ///< the same; larger where the total is a range
  Interval total_interval;
  bool total_is_range = false;  ///< as of is_wide_range()
  double cut_share = 0;         ///< that `total_share` could gain at most from paths that are cut
  int64_t nanoseconds = 0;      ///< of CPU time; or, where ticks stand for others:
  int64_t events = 0;
};

/// Options for rows that are lines.
struct LineOptions {
  std::optional<std::string> own{};  ///< a tick counts for the innermost line in these files (see OwnFiles);
                                     ///< code without any is a row of its object
  bool inlines =
      false;  ///< a row for each chain of inlined functions: the outermost (own) line, and what is inside
};

/// A step of the path that most ticks took.
struct HotFrame {
  std::string function;  ///< full name
  std::string linkage;
  double share = 0;             ///< of all ticks, with this path
  bool after_left_out = false;  ///< its caller is not the step before: those between are left out
  std::string object;
  uint64_t address = 0;             ///< where it starts; 0: not known
  std::string short_name{};         ///< as in the table
  bool in_several_objects = false;  ///< the path has a function of another object of that name
};

/// The line on that path with most ticks: see report/hot_line.h.
struct HotLine {
  std::string file;
  uint32_t line = 0;
  std::string function;  ///< full name of the innermost one there, which may be inlined
  std::string linkage;
  double share = 0;            ///< of all ticks, with the line or what it calls running: at least
  double most = 0;             ///< at most
  Interval interval;           ///< from that of `share` to that of `most`
  bool calls = false;          ///< most of its ticks are in what it calls
  SourceDigests digests;       ///< of what its unit was compiled from
  std::optional<uid_t> owner;  ///< as of Symbolizer::owner(): who names the file
  uint64_t built_unix_ns = 0;  ///< when the program was changed; 0: not known
};

struct ReportOptions {
  Grouping by = Grouping::kFunction;
  RowOrder order = RowOrder::kTicks;
  uint64_t limit = 0;    ///< most rows; 0: all
  double min_share = 0;  ///< of 1
  LineOptions lines{};
  const NamePattern* filter = nullptr;  ///< only rows with a name that has it; null: all. Outlives the call.
  const NamePattern* object = nullptr;  ///< only rows of objects whose name has it
  bool hot_line = false;        ///< as hot_line() finds it. REQUIRES: nothing was chosen of the profile
  bool path_functions = false;  ///< to keep them: with call paths, by function
};

/// The sum of `ticks` over rows, plus hidden_ticks and filtered_ticks, is the ledger's ticks().
struct Report {
  Grouping by = Grouping::kFunction;
  std::vector<Row> rows;
  uint64_t hidden_rows = 0;    ///< left out by limit or min_share: always those with the fewest ticks
  uint64_t hidden_ticks = 0;   ///< their ticks
  double hidden_share = 0;     ///< the largest share among them; with RowOrder::kTotal of the totals
  bool hides_small = false;    ///< some have less than min_share
  bool hides_many = false;     ///< some are beyond the limit
  bool filtered = false;       ///< the options have a filter
  uint64_t filtered_rows = 0;  ///< left out by it
  uint64_t filtered_ticks = 0;
  Account account;
  PathAccount paths;               ///< with call paths: of all, as the account, also where some were chosen
  PathFunctions path_functions;    ///< if they are wanted
  std::vector<HotFrame> hot_path;  ///< with call paths, by function: outermost first
  std::optional<HotLine> hot_line;
  std::vector<Warning> warnings;
};

/// Names everything through `open`.
Report make_report(const Profile& profile, const OpenSymbolizer& open, const ReportOptions& options);

// The groupings: one row per ..., in any order, ticks set, summing to the ledger's counted (by process: to at
// most counted + outside + full).
// `paths`: null, or the profile's, for totals and for rows that only called others. `totals`: the same, where
// the profile has call paths.
std::vector<Row> rows_by_function(const Profile& profile, ObjectNames& names,
                                  const PathFunctions* paths = nullptr);
std::vector<Row> rows_by_object(const Profile& profile, ObjectNames& names, bool totals = false);
std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names, const LineOptions& options = {},
                              const PathFunctions* paths = nullptr);
std::vector<Row> rows_by_process(const Profile& profile);
std::vector<Row> rows_by_command(const Profile& profile);

/// `by` is by scope. REQUIRES: has_scopes_for(profile, by).
std::vector<Row> rows_by_scope(const Profile& profile, Grouping by, ObjectNames& names, bool totals = false);

/// Gives all rows their short names.
void name_rows(std::vector<Row>* rows);

/// The grouping `by`.
std::vector<Row> grouped_rows(const Profile& profile, Grouping by, ObjectNames& names);

/// A row for each kind of tick no grouping sees ("[outside]", "[lost]", ...), also for those there are none
/// of. `grouped` are the rows of the grouping.
std::vector<Row> pseudo_rows(const TickLedger& ledger, Grouping by, const std::vector<Row>& grouped);

/// Neighbouring positions of one executable, for the groupings. Borrowed for one visit.
struct ExecutableTicks {
  uint32_t executable = 0;
  std::span<const uint64_t> positions;  ///< ascending
  std::span<const uint64_t> ticks;      ///< of each
};

/// Calls `visit` for all positions in order, a bounded number at a time: names take many times the memory of
/// what they name.
void for_each_batch(const Profile& profile, const std::function<void(const ExecutableTicks&)>& visit);

}  // namespace pctally
