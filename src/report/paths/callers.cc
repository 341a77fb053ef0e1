#include "report/paths/callers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/account/path_account.h"
#include "report/paths/call_cycles.h"
#include "report/paths/call_ranges.h"
#include "report/paths/inlined_ticks.h"

namespace pctally {
namespace {

/// A caller with its place, or a callee without one.
using Side = std::tuple<std::string, std::string, uint64_t, std::string, std::string,
                        uint32_t>;  // function_of(), file, line

Side side_of(const StackFrame& frame) {
  return std::tuple_cat(function_of(frame), std::tie(frame.file, frame.line));
}

/// Callers, or callees: things that may recur on a path. Each counts once a path.
class Sides {
 public:
  void enter(const Side& side, const CallerRow& row, const KeptTicks& ticks) {
    Entry& entry = entry_of(side, row);
    if (entry.depth++ == 0) entry.kept += ticks;
  }
  void leave(const Side& side) { --entries_[side].depth; }
  void add_plane(const Side& side, const CallerRow& row, const PlaneCall& call) {
    entry_of(side, row).plane.add(call.scope, call.ticks);
  }

  /// `range_of(entry)`: its ticks. `whole`: the function's.
  template <class RangeOf>
  std::vector<CallerRow> rows(const TickRange& whole, double samples, RangeOf&& range_of) {
    std::vector<CallerRow> rows;
    for (auto& [side, entry] : entries_) {
      const TickRange range = range_of(entry);
      entry.row.ticks = range.low;
      entry.row.high = range.high;
      measure(whole, samples, &entry.row);
      const bool may_have = range.high != 0 && (entry.kept.ticks != 0 || entry.inlined.high != 0);
      if (range.low != 0 || may_have || entry.is_kept) rows.push_back(std::move(entry.row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const CallerRow& a, const CallerRow& b) {
      return std::tie(a.ticks, a.high) > std::tie(b.ticks, b.high);
    });
    return rows;
  }

  struct Entry {
    CallerRow row;
    uint32_t depth = 0;
    KeptTicks kept;
    PlaneTicks plane;
    TickRange inlined{};   ///< in inlined code of the function that ran
    bool is_kept = false;  ///< a row even without ticks that are known
  };
  /// The sum of all that count(frame) says, where no tick is in two of them.
  template <class Count>
  [[nodiscard]] uint64_t least(Count&& count) const {
    uint64_t ticks = 0;
    for (const auto& [side, entry] : entries_)
      if (count(entry.row.frame))
        ticks += std::max(entry.kept.ticks, entry.plane.least()) + entry.inlined.low;
    return ticks;
  }
  Entry& entry_of(const Side& side, const CallerRow& row) {
    const auto [entry, fresh] = entries_.try_emplace(side);
    if (fresh) entry->second.row = row;
    return entry->second;
  }

 private:
  static double part(uint64_t ticks, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(ticks) / static_cast<double>(whole);
  }

  static void measure(const TickRange& whole, double samples, CallerRow* row) {
    const double low = part(row->ticks, whole.high), high = std::min(1.0, part(row->high, whole.low));
    row->share = std::min(1.0, part(row->ticks, whole.low));
    row->is_range = is_wide_range(std::min(1.0, low), high, samples);
    row->interval = {wilson_interval(std::min(1.0, low), samples).low, wilson_interval(high, samples).high};
  }

  std::map<Side, Entry> entries_;
};

/// The inlined functions that the frame is inlined into, innermost first.
template <class FrameAt>
std::vector<StackFrame> outer_of(size_t frame, FrameAt&& at) {
  std::vector<StackFrame> outer;
  for (size_t i = frame; i > 0 && at(i).inlined; --i) outer.push_back(at(i - 1));
  return outer;
}

/// Walks all paths, with the frames of each laid out one after another, then the call plane and inlined code.
class CallerWalk {
 public:
  CallerWalk(const NamedPaths& paths, const StackFrame& function)
      : paths_(paths),
        function_(function),
        known_(paths.known(function)),
        ranges_(paths),
        folded_below_(folded_below(paths.tree())) {
    for (const InlinedCode& code : paths.inlined_code())
      if (code.is_symbol && is_function(code.frames.back())) symbols_.push_back({code, {}});
  }

  void run() {
    walk_paths(
        paths_.tree(), [this](uint32_t node) { enter(node); }, [this](uint32_t node) { leave(node); });
    for_each_plane_call(paths_, [this](const PlaneCall& call) { add(call); });
    for (const InlinedCode& code : paths_.inlined_code())
      if (!code.is_symbol || is_function(code.frames.front())) add(code);
    for (const Symbol& symbol : symbols_) add(symbol);
    inlined_ticks_.add_folded(ranges_.all_folded());
    add_without_path();
  }

  [[nodiscard]] bool has_all_calls() const { return !ranges_.has_plane() || ranges_.has_all_calls(); }

  /// With the function on the stack.
  [[nodiscard]] TickRange total() const {
    if (is_cut()) return ranges_.cut(kept_, hidden_ticks(frame_called(kOutermost)));
    return inlined_ticks_.total(
        ranges_.function(known_, {kept_.ticks + without_path_, kept_.folded}, inlined(function_)));
  }
  /// Those of these whose path is not known, except for the function itself.
  [[nodiscard]] uint64_t without_path() const { return without_path_; }
  /// Those of these in inlined code that may be of other paths, or are counted twice.
  [[nodiscard]] uint64_t unplaced() const { return is_cut() ? 0 : inlined_ticks_.unplaced(); }

  std::vector<CallerRow> callers(const TickRange& whole, double samples) {
    add_unknown_callers(whole);
    return callers_.rows(whole, samples, [&](const Sides::Entry& entry) {
      if (is_cut()) return whole;
      const auto hidden = hidden_.find(side_of(entry.row.frame));
      if (hidden == hidden_.end())
        return inlined_ticks_.with(ranges_.call(entry.kept, entry.plane, known_.complete), entry.inlined);
      return inlined_ticks_.with(CallRanges::outermost(entry.kept, hidden->second.ticks, whole.high),
                                 entry.inlined);
    });
  }
  std::vector<CallerRow> callees(const TickRange& whole, double samples) {
    if (ranges_.has_plane() && known_.complete && known_.self != 0)
      callees_.entry_of(side_of(frame_called(kItself)), row_of(frame_called(kItself)));
    return callees_.rows(whole, samples, [&](const Sides::Entry& entry) {
      const StackFrame& callee = entry.row.frame;
      if (callee.function == kFolded && callee.object.empty())
        return TickRange{entry.kept.ticks, entry.kept.ticks};
      if (callee.function == kItself && callee.object.empty()) {
        const TickRange own =
            inlined_ticks_.without_inlined(ranges_.own(known_, {entry.kept.ticks + without_path_, 0}));
        return TickRange{own.low + entry.inlined.low, own.high + entry.inlined.high};
      }
      if (is_cut())
        return CallRanges::outermost(entry.kept, hidden_ticks(function_),
                                     ranges_.most(paths_.known(callee), inlined(callee)));
      return inlined_ticks_.with(ranges_.call(entry.kept, entry.plane, paths_.known(callee).complete),
                                 entry.inlined);
    });
  }

 private:
  static constexpr const char* kOutermost = "(outermost)";
  static constexpr const char* kItself = "(itself)";
  static constexpr const char* kFolded = "[folded]";

  /// Folded paths whose outermost known function may be any.
  struct Hidden {
    StackFrame end;
    uint64_t ticks = 0;
  };
  /// Where the callers have fewer ticks than the function, the others may be of paths whose outermost known
  /// function was folded. A caller that the function may call has ticks of recursion, which another called.
  void add_unknown_callers(const TickRange& whole) {
    const auto is_hidden = [](const auto& end) { return end.second.ticks != 0; };
    if (!ranges_.has_plane() || is_cut() || std::none_of(hidden_.begin(), hidden_.end(), is_hidden)) return;
    const CallCycles cycles(paths_, ranges_.has_all_calls());
    const uint64_t known = callers_.least([&](const StackFrame& caller) {
      return hidden_.contains(side_of(caller)) || !cycles.may_return(caller, function_);
    });
    if (known >= whole.low) return;
    for (const auto& [side, hidden] : hidden_)
      if (hidden.ticks != 0) callers_.entry_of(side, row_of(hidden.end)).is_kept = true;
  }

  /// The function's own ticks that no path has.
  void add_without_path() {
    if (!known_.self_is_all) return;
    without_path_ = paths_.without_path().of(known_.self, kept_own_);
    if (without_path_ == 0) return;
    const CallerRow caller = row_of(paths_.unknown_caller()), itself = row_of(frame_called(kItself));
    callers_.entry_of(side_of(caller.frame), caller).inlined += {without_path_, without_path_};
    callees_.entry_of(side_of(itself.frame), itself);
  }

  struct Visit {
    size_t frames = 0;  ///< of the stack before it
    std::vector<std::pair<Sides*, Side>> entered;
    uint32_t found = 0;
  };

  [[nodiscard]] bool is_function(const StackFrame& frame) const {
    return function_of(frame) == function_of(function_);
  }
  /// Whether it stands for the unknown part of paths.
  [[nodiscard]] bool is_cut() const { return hidden_.contains(side_of(function_)); }
  [[nodiscard]] uint64_t hidden_ticks(const StackFrame& end) const {
    const auto hidden = hidden_.find(side_of(end));
    return hidden == hidden_.end() ? 0 : hidden->second.ticks;
  }
  [[nodiscard]] PlaneTicks inlined(const StackFrame& function) const {
    const auto found = inlined_of_.find(side_of(callee_of(function)));
    return found == inlined_of_.end() ? PlaneTicks{} : found->second;
  }
  static CallerRow row_of(StackFrame frame) {
    CallerRow row;
    row.frame = std::move(frame);
    return row;
  }
  static StackFrame callee_of(StackFrame frame) {
    frame.file.clear();
    frame.line = 0;
    return frame;
  }

  void enter(uint32_t node) {
    Visit visit{.frames = stack_.size(), .entered = {}};
    const KeptTicks below{paths_.below()[node], folded_below_[node]};
    for (const StackFrame& frame : paths_.frames(node)) {
      for (Symbol& symbol : symbols_)
        if (function_of(frame) == function_of(symbol.code.frames.front()))
          add_possible_caller(paths_.tree()[node].self, &symbol);
      if (!stack_.empty() && is_function(*stack_.back()))
        add(&callees_, row_of(callee_of(frame)), below, &visit);
      if (is_function(frame)) {
        add(&callers_, caller(), below, &visit);
        if (on_path_++ == 0) kept_ += below;
        ++visit.found;
      }
      stack_.push_back(&frame);
    }
    add_end(paths_.tree()[node], &visit);
    visits_.push_back(std::move(visit));
  }

  void add_end(const PathTreeNode& node, Visit* visit) {
    const bool ends_here = !stack_.empty() && is_function(*stack_.back());
    if (ends_here) kept_own_ += node.self;
    if (ends_here && node.self != 0) add(&callees_, row_of(frame_called(kItself)), {node.self, 0}, visit);
    if (ends_here && node.folded != 0 && !(ranges_.has_plane() && known_.complete))
      add(&callees_, row_of(frame_called(kFolded)), {node.folded, 0}, visit);
    if (on_path_ > (ends_here ? 1 : 0)) inlined_ticks_.add_end(*stack_.back(), node.self);
    if (!stack_.empty() && node.kind != PathNodeKind::kCut) return;
    const StackFrame end = stack_.empty() ? frame_called(kOutermost) : *stack_.back();
    Hidden& hidden = hidden_.try_emplace(side_of(end), Hidden{end, 0}).first->second;
    hidden.ticks += node.folded;
  }

  void leave(uint32_t) {
    Visit& visit = visits_.back();
    for (auto& [sides, side] : visit.entered) sides->leave(side);
    on_path_ -= visit.found;
    stack_.resize(visit.frames);
    visits_.pop_back();
  }

  static void add(Sides* sides, const CallerRow& row, const KeptTicks& below, Visit* visit) {
    const Side side = side_of(row.frame);
    sides->enter(side, row, below);
    visit->entered.emplace_back(sides, side);
  }

  /// The frame on top of the stack.
  [[nodiscard]] CallerRow caller() const {
    if (stack_.empty()) return row_of(frame_called(kOutermost));
    CallerRow row = row_of(*stack_.back());
    row.outer = outer_of(stack_.size() - 1, [this](size_t i) -> const StackFrame& { return *stack_[i]; });
    return row;
  }

  void add(const PlaneCall& call) {
    const StackFrame& caller = call.frames[call.caller];
    if (caller.inlined) inlined_of_[side_of(callee_of(caller))].add(call.scope, call.ticks);
    if (call.callee == nullptr) return;
    if (is_function(*call.callee)) {
      CallerRow row = row_of(caller);
      row.outer = outer_of(call.caller, [&call](size_t i) -> const StackFrame& { return call.frames[i]; });
      callers_.add_plane(side_of(caller), row, call);
    }
    if (!is_function(caller)) return;
    const StackFrame callee = callee_of(*call.callee);
    callees_.add_plane(side_of(callee), row_of(callee), call);
  }

  /// Each caller and callee once.
  void add(const InlinedCode& code) {
    const std::vector<StackFrame>& frames = code.frames;
    const TickRange ticks{code.low, code.high};
    std::map<Side, CallerRow> callers, callees;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (!is_function(frames[i])) continue;
      if (i != 0) {
        CallerRow row = row_of(frames[i - 1]);
        row.outer = outer_of(i - 1, [&frames](size_t k) -> const StackFrame& { return frames[k]; });
        callers.try_emplace(side_of(row.frame), std::move(row));
      }
      CallerRow row = row_of(i + 1 == frames.size() ? frame_called(kItself) : callee_of(frames[i + 1]));
      callees.try_emplace(side_of(row.frame), std::move(row));
    }
    if (callees.empty()) return;
    if (is_function(frames.front()))
      inlined_ticks_.add_within(frames.front(), ticks);
    else
      inlined_ticks_.add_inlined(frames.front(), ticks);
    for (const auto& [side, row] : callers) callers_.entry_of(side, row).inlined += ticks;
    for (const auto& [side, row] : callees) callees_.entry_of(side, row).inlined += ticks;
  }

  /// The function as one of several symbols in an entry of the unwind table, and who calls the entry.
  struct Symbol {
    const InlinedCode& code;
    std::map<Side, std::pair<CallerRow, uint64_t>> callers;
  };
  void add_possible_caller(uint64_t ticks, Symbol* symbol) const {
    CallerRow row = caller();
    Side side = side_of(row.frame);
    symbol->callers.try_emplace(std::move(side), std::move(row), 0).first->second.second += ticks;
  }
  void add(const Symbol& symbol) {
    const TickRange own{symbol.code.low, symbol.code.high};
    inlined_ticks_.add_inlined(symbol.code.frames.front(), own);
    for (const auto& [side, caller] : symbol.callers)
      callers_.entry_of(side, caller.first).inlined += symbol.code.among(caller.second);
    const CallerRow itself = row_of(frame_called(kItself));
    callees_.entry_of(side_of(itself.frame), itself).inlined += own;
  }

  const NamedPaths& paths_;
  const StackFrame& function_;
  KnownTicks known_;
  CallRanges ranges_;
  std::vector<uint64_t> folded_below_;
  KeptTicks kept_;                            ///< with the function on the stack
  uint64_t kept_own_ = 0, without_path_ = 0;  ///< in the function itself: of kept paths, of none
  InlinedTicks inlined_ticks_;
  std::vector<Symbol> symbols_;
  std::map<Side, PlaneTicks> inlined_of_;  ///< calls from where a function was inlined
  Sides callers_, callees_;
  std::map<Side, Hidden> hidden_;  ///< below no function: below a scope, or a cut
  std::vector<const StackFrame*> stack_;
  std::vector<Visit> visits_;
  uint32_t on_path_ = 0;
};

struct Match {
  StackFrame frame;
  Called called = Called::kNot;
  bool in_table = false;  ///< so the table names it
  uint64_t ticks = 0;
};

/// "NAME" of "NAME (OBJECT)".
std::string_view without_object(const StackFrame& frame, std::string_view text) {
  if (const std::string object = " (" + frame.object + ")"; text.ends_with(object))
    text.remove_suffix(object.size());
  return text;
}

/// Every function on the paths.
std::vector<Match> all_matches(const NamedPaths& paths, const std::string& text) {
  std::map<StackFunction, Match> found;
  const auto add = [&](const StackFrame& frame, uint64_t ticks) {
    const auto [entry, fresh] = found.try_emplace(function_of(frame));
    Match& match = entry->second;
    if (fresh) match = {frame, called_by(frame, text)};
    match.in_table = !frame.table_name.empty() && frame.table_name == without_object(frame, text);
    match.ticks += ticks;
  };
  for (uint32_t node = 0; node < paths.tree().size(); ++node)
    for (const StackFrame& frame : paths.frames(node)) add(frame, paths.below()[node]);
  for (uint32_t node = 0; node < paths.plane().size(); ++node)
    for (const StackFrame& frame : paths.plane_frames(node)) add(frame, paths.plane()[node].self);
  for (const InlinedCode& code : paths.inlined_code())
    for (size_t i = 1; i < code.frames.size(); ++i) add(code.frames[i], code.high);
  std::vector<Match> list;
  for (auto& [key, match] : found) list.push_back(std::move(match));
  return list;
}

}  // namespace

std::string listed_name(const StackFrame& frame) {
  return fmt::format("{} ({})", frame.short_name, frame.object);
}

Called called_by(const StackFrame& frame, std::string_view text) {
  if (text == listed_name(frame)) return Called::kAsListed;
  return called_by(frame.function, frame.linkage, frame.short_name, without_object(frame, text));
}

std::vector<StackFrame> find_functions(const NamedPaths& paths, const std::string& text,
                                       const NamePattern* object) {
  std::vector<Match> list = all_matches(paths, text);
  if (object != nullptr)
    std::erase_if(list, [&](const Match& match) { return !object->matches(match.frame.object); });
  Called best = Called::kNot;
  for (const Match& match : list)
    best = std::min(best, match.in_table ? std::min(match.called, Called::kAsShown) : match.called);
  std::stable_sort(list.begin(), list.end(),
                   [](const Match& a, const Match& b) { return a.ticks > b.ticks; });
  std::vector<StackFrame> functions;
  for (Match& match : list)
    if (best != Called::kNot && (match.called == best || (match.in_table && best != Called::kAsListed)))
      functions.push_back(std::move(match.frame));
  return functions;
}

Callers callers_of(const Profile& profile, const NamedPaths& paths, const StackFrame& function) {
  const Account account = account_of(profile);
  const auto all = static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1));
  CallerWalk walk(paths, function);
  walk.run();
  TickRange total = walk.total();
  total.high = std::max(total.low, std::min(total.high, profile.ledger.ticks()));
  const double high = static_cast<double>(total.high) / all;
  Callers callers;
  callers.function = function;
  callers.ticks = total.low;
  callers.unplaced = std::min(total.high - total.low, walk.unplaced());
  callers.folded = total.high - total.low - callers.unplaced;
  callers.has_all_calls = walk.has_all_calls();
  for (const InlinedCode& code : paths.inlined_code())
    if (code.is_symbol && function_of(code.frames.back()) == function_of(function))
      callers.entries.push_back(code.frames.front());
  // A cut is no function. What was not read may be of any program or path.
  callers.unread = function.object.empty() ? 0 : unread_ticks(whole_of(profile).paths.context);
  callers.unread -= std::min(callers.unread, walk.without_path());
  callers.share = static_cast<double>(total.low) / all;
  callers.is_range = is_wide_range(callers.share, high, account.effective_samples);
  callers.interval = {wilson_interval(callers.share, account.effective_samples).low,
                      wilson_interval(high, account.effective_samples).high};
  // The samples with the function on the stack: its share of the effective ones.
  const double samples = callers.share * account.effective_samples;
  callers.callers = walk.callers(total, samples);
  callers.callees = walk.callees(total, samples);
  return callers;
}

}  // namespace pctally
