#include "report/paths/callers.h"

#include <algorithm>
#include <map>

#include "report/names/short_name.h"

namespace pctally {
namespace {

/// A caller with its place, or a callee without one.
using Side = std::tuple<std::string, std::string, std::string, uint32_t>;  // object, function, file, line

Side side_of(const StackFrame& frame) { return {frame.object, frame.function, frame.file, frame.line}; }

StackFrame named(const char* name) {
  StackFrame frame;
  frame.function = name;
  return frame;
}

/// Ticks of things that may recur on a path: each counts once a path.
class OnceAPath {
 public:
  void enter(const Side& side, const CallerRow& row, uint64_t ticks) {
    Entry& entry = entries_[side];
    if (entry.depth++ != 0) return;
    if (entry.row.ticks == 0) entry.row = row;
    entry.row.ticks += ticks;
  }
  void leave(const Side& side) { --entries_[side].depth; }

  std::vector<CallerRow> rows(uint64_t of, double samples) {
    std::vector<CallerRow> rows;
    for (auto& [side, entry] : entries_) {
      CallerRow& row = entry.row;
      row.share = of == 0 ? 0 : static_cast<double>(row.ticks) / static_cast<double>(of);
      row.interval = wilson_interval(std::min(1.0, row.share), samples);
      if (row.ticks != 0) rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CallerRow& a, const CallerRow& b) { return a.ticks > b.ticks; });
    return rows;
  }

 private:
  struct Entry {
    CallerRow row;
    uint32_t depth = 0;
  };
  std::map<Side, Entry> entries_;
};

/// Walks all paths, with the frames of each laid out one after another.
class CallerWalk {
 public:
  CallerWalk(const NamedPaths& paths, const StackFrame& function) : paths_(paths), function_(function) {}

  void run() {
    walk_paths(
        paths_.tree(), [this](uint32_t node) { enter(node); }, [this](uint32_t node) { leave(node); });
  }

  uint64_t ticks = 0;
  uint64_t folded = 0;
  OnceAPath callers, callees;

 private:
  struct Visit {
    size_t frames = 0;  ///< of the stack before it
    std::vector<std::pair<OnceAPath*, Side>> entered;
    uint32_t found = 0;
  };

  [[nodiscard]] bool is_function(const StackFrame& frame) const {
    return function_of(frame) == function_of(function_);
  }

  void enter(uint32_t node) {
    Visit visit{.frames = stack_.size(), .entered = {}};
    const uint64_t below = paths_.below()[node];
    for (const StackFrame& frame : paths_.frames(node)) {
      if (!stack_.empty() && is_function(*stack_.back())) add_callee(frame, below, &visit);
      if (is_function(frame)) {
        add_caller(below, &visit);
        if (on_path_++ == 0) ticks += below;
        ++visit.found;
      }
      stack_.push_back(&frame);
    }
    const PathTreeNode& own = paths_.tree()[node];
    const bool ends_here = !stack_.empty() && is_function(*stack_.back());
    if (ends_here && own.self != 0) add(&callees, named("(itself)"), {}, own.self, &visit);
    if (ends_here && own.folded != 0) add(&callees, named("[folded]"), {}, own.folded, &visit);
    if (on_path_ == 0) folded += own.folded;
    visits_.push_back(std::move(visit));
  }

  void leave(uint32_t) {
    Visit& visit = visits_.back();
    for (auto& [sides, side] : visit.entered) sides->leave(side);
    on_path_ -= visit.found;
    stack_.resize(visit.frames);
    visits_.pop_back();
  }

  static void add(OnceAPath* sides, const StackFrame& frame, std::vector<StackFrame> outer, uint64_t ticks,
                  Visit* visit) {
    CallerRow row;
    row.frame = frame;
    row.outer = std::move(outer);
    sides->enter(side_of(frame), row, ticks);
    visit->entered.emplace_back(sides, side_of(frame));
  }

  /// The frame on top of the stack is the caller's.
  void add_caller(uint64_t below, Visit* visit) {
    if (stack_.empty()) return add(&callers, named("(outermost)"), {}, below, visit);
    std::vector<StackFrame> outer;
    for (size_t i = stack_.size() - 1; i > 0 && stack_[i]->inlined; --i) outer.push_back(*stack_[i - 1]);
    add(&callers, *stack_.back(), std::move(outer), below, visit);
  }

  void add_callee(const StackFrame& frame, uint64_t below, Visit* visit) {
    StackFrame callee = frame;
    callee.file.clear();
    callee.line = 0;
    add(&callees, callee, {}, below, visit);
  }

  const NamedPaths& paths_;
  const StackFrame& function_;
  std::vector<const StackFrame*> stack_;
  std::vector<Visit> visits_;
  uint32_t on_path_ = 0;
};

/// How well a function is called, the best first.
enum class Called { kInFull, kAsShown, kBare, kMember, kInPart, kNot };

Called called(const StackFrame& frame, const std::string& text) {
  if (frame.function == text || frame.linkage == text) return Called::kInFull;
  for (const NameDetail detail :
       {NameDetail::kClone, NameDetail::kArguments, NameDetail::kTemplates, NameDetail::kBoth})
    if (short_function_name(frame.function, frame.linkage, detail) == text) return Called::kAsShown;
  const std::string bare = short_function_name(frame.function, frame.linkage);
  if (bare == text) return Called::kBare;
  if (bare.ends_with("::" + text)) return Called::kMember;
  return frame.function.find(text) != std::string::npos ? Called::kInPart : Called::kNot;
}

struct Match {
  StackFrame frame;
  Called called = Called::kNot;
  uint64_t ticks = 0;
};

/// Every function on the paths.
std::vector<Match> all_matches(const NamedPaths& paths, const std::string& text) {
  std::map<std::tuple<std::string, std::string>, Match> found;
  for (uint32_t node = 0; node < paths.tree().size(); ++node) {
    for (const StackFrame& frame : paths.frames(node)) {
      const auto [entry, fresh] = found.try_emplace({frame.object, frame.function});
      Match& match = entry->second;
      if (fresh) match = {frame, called(frame, text)};
      match.ticks += paths.below()[node];
    }
  }
  std::vector<Match> list;
  for (auto& [key, match] : found) list.push_back(std::move(match));
  return list;
}

}  // namespace

std::vector<StackFrame> find_functions(const NamedPaths& paths, const std::string& text) {
  std::vector<Match> list = all_matches(paths, text);
  Called best = Called::kNot;
  for (const Match& match : list) best = std::min(best, match.called);
  std::stable_sort(list.begin(), list.end(),
                   [](const Match& a, const Match& b) { return a.ticks > b.ticks; });
  std::vector<StackFrame> functions;
  for (Match& match : list)
    if (best != Called::kNot && match.called == best) functions.push_back(std::move(match.frame));
  return functions;
}

Callers callers_of(const Profile& profile, const NamedPaths& paths, const StackFrame& function) {
  const Account account = account_of(profile);
  const auto all = static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1));
  CallerWalk walk(paths, function);
  walk.run();
  Callers callers;
  callers.function = function;
  callers.ticks = walk.ticks;
  callers.folded = walk.folded;
  callers.share = static_cast<double>(walk.ticks) / all;
  callers.interval = wilson_interval(callers.share, account.effective_samples);
  // Of the samples with the function on the stack: as many as its part of the effective ones.
  const double samples = callers.share * account.effective_samples;
  callers.callers = walk.callers.rows(walk.ticks, samples);
  callers.callees = walk.callees.rows(walk.ticks, samples);
  return callers;
}

}  // namespace pctally
