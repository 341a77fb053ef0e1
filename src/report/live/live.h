// Computes the table of a live view: the shares of the last few seconds, how they have changed, and whether
// the change is significant. docs/statistics.md explains it in words. Pure values: no terminal, no clock.
#pragma once
#include <deque>

#include "report/live/name_cache.h"
#include "report/rollup.h"

namespace pctally {

enum class Trend {
  kUnknown,  ///< nothing to compare with
  kSteady,   ///< no change beyond chance
  kUp,
  kDown,
};

struct LiveRow {
  Row all;                 ///< of the whole recording
  uint64_t now_ticks = 0;  ///< of the window
  double now_share = 0;
  Interval now_interval;        ///< of now_share
  uint64_t now_total = 0;       ///< of the window, with it on the stack; 0 without call paths
  uint64_t now_total_high = 0;  ///< with what folded paths may hold
  double now_total_share = 0;
  bool now_total_is_least = false;  ///< folded paths may hold much more
  double change = 0;                ///< now_share less the share before the window; 0 if unknown
  Trend trend = Trend::kUnknown;
};

/// The sum of now_ticks over rows and hidden_rows is the window's ticks.
struct LiveTable {
  Grouping by = Grouping::kFunction;
  bool with_totals = false;   ///< by function, of a recording with call paths
  std::vector<LiveRow> rows;  ///< most of the window first
  uint64_t all_rows = 0;      ///< also those the filter hides
  TickLedger ledger;          ///< of the whole recording
  TickLedger now_ledger;      ///< of the window
  uint64_t window_ns = 0;
  Profile window;
  Account account;  ///< of the whole recording
  std::vector<Warning> warnings;
};

/// The copies of one recording that a window needs: few, however long it is.
class LiveHistory {
 public:
  explicit LiveHistory(uint64_t window_ns) : window_ns_(window_ns) {}

  /// A newer copy, taken `at_ns` on any clock that does not go back.
  void add(Profile profile, uint64_t at_ns);

  [[nodiscard]] bool empty() const { return copies_.empty(); }
  [[nodiscard]] const Profile& latest() const { return copies_.back().profile; }
  /// The recording as it was at the start of the window; empty if the window holds all of it.
  [[nodiscard]] const Profile& before() const { return copies_.front().profile; }
  [[nodiscard]] uint64_t window_ns() const { return copies_.back().at_ns - copies_.front().at_ns; }

 private:
  struct Copy {
    Profile profile;
    uint64_t at_ns = 0;
  };
  void begin(const Profile& first, uint64_t at_ns);

  uint64_t window_ns_;
  std::deque<Copy> copies_;  ///< the last one is the latest, the first one lies at the start of the window
};

struct LiveOptions {
  Grouping by = Grouping::kFunction;
  std::string filter;  ///< rows whose names contain it, in upper or lower case; empty: all
};

/// REQUIRES: !history.empty(). A row's trend is up or down if the change is significant at 95 % over the
/// whole table: p_of_shares() of it is at most 0.05 divided by the number of rows (Bonferroni).
LiveTable make_live_table(const LiveHistory& history, NameCache& names, const LiveOptions& options);

}  // namespace pctally
