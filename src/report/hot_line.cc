#include "report/hot_line.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/line_totals.h"
#include "report/names/own_files.h"

namespace pctally {
namespace {

constexpr double kLeastOfLine = 0.05;  ///< of all ticks
constexpr size_t kMostFunctions = 64;

struct LineTicks {
  std::string file, function, linkage;
  uint32_t line = 0;
  uint64_t own = 0;     ///< ticks
  uint64_t called = 0;  ///< ticks with a call from here on the stack
  uint64_t below = 0;   ///< of these, ticks in the function itself: they may be among `own`
  uint64_t folded = 0;  ///< ticks whose path was not kept as far as it may have come here
  uint32_t on_path = 0;
  [[nodiscard]] uint64_t ticks() const { return called + own - std::min(own, below); }
  [[nodiscard]] uint64_t most_ticks() const { return called + own + folded; }
};

/// The lines of one function: for each of its places the innermost one.
class FunctionLines {
 public:
  /// `own`: only lines in these files of `object`; null: all.
  FunctionLines(const std::vector<uint64_t>& positions, const std::vector<std::vector<Frame>>& frames,
                const OwnFiles* own, const std::string& object) {
    std::map<std::pair<std::string, uint32_t>, size_t> known;
    for (size_t i = 0; i < positions.size() && i < frames.size(); ++i) {
      const auto frame = std::find_if(frames[i].begin(), frames[i].end(), [&](const Frame& candidate) {
        return candidate.line != 0 && !candidate.file.empty() &&
               (own == nullptr || own->contains(candidate.file, object));
      });
      if (frame == frames[i].end()) continue;
      const auto [entry, fresh] = known.try_emplace({frame->file, frame->line}, lines_.size());
      if (fresh) lines_.push_back({frame->file, frame->function, frame->linkage, frame->line});
      places_[positions[i]] = entry->second;
    }
  }

  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::vector<LineTicks>& lines() { return lines_; }
  LineTicks* at(uint64_t position) {
    const auto found = places_.find(position);
    return found == places_.end() ? nullptr : &lines_[found->second];
  }
  [[nodiscard]] const LineTicks* hottest() const {
    const auto most =
        std::max_element(lines_.begin(), lines_.end(),
                         [](const LineTicks& a, const LineTicks& b) { return a.ticks() < b.ticks(); });
    return most == lines_.end() ? nullptr : &*most;
  }

 private:
  std::vector<LineTicks> lines_;
  std::map<uint64_t, size_t> places_;
};

class HotLineSearch {
 public:
  HotLineSearch(const Profile& profile, ObjectNames& names, const PathFunctions& functions)
      : profile_(profile),
        tree_(profile.paths.context),
        names_(names),
        functions_(functions),
        below_(ticks_below(tree_)),
        is_call_(calls_of(tree_)) {}

  std::optional<HotLine> run(const std::vector<uint32_t>& path) {
    std::set<uint32_t> seen;
    std::optional<HotLine> foreign;
    for (size_t i = path.size(); i-- > 0 && seen.size() < kMostFunctions;) {
      if (!seen.insert(path[i]).second) continue;
      read(path[i]);
      if (std::optional<HotLine> own = hottest(path[i], &own_)) return own;
      if (!foreign) foreign = hottest(path[i], nullptr);
    }
    return foreign;
  }

 private:
  /// The function's places with ticks or calls, and their lines.
  void read(uint32_t function) {
    ticks_.clear();
    positions_.clear();
    frames_.clear();
    uint32_t any = PathTreeNode::kNoParent;
    for (uint32_t node = 0; node < tree_.size(); ++node) {
      if (functions_.context[node] != function) continue;
      any = node;
      if (is_call_[node]) positions_.push_back(tree_[node].position);
    }
    if (any == PathTreeNode::kNoParent) return;
    const uint32_t executable = tree_[any].executable;
    if (profile_.executables[executable].kind == ExecutableKind::kPrivate) return;
    symbolizer_ = &names_.symbolizer(executable);
    object_ = names_.path(executable);
    const std::vector<NamedRange> ranges = symbolizer_->name({&tree_[any].position, 1});
    for (const WeightedPosition& place : profile_.positions)
      if (!ranges.empty() && place.executable == executable && place.position >= ranges[0].start &&
          place.position < ranges[0].end)
        ticks_.push_back(place);
    for (const WeightedPosition& place : ticks_) positions_.push_back(place.position);
    std::sort(positions_.begin(), positions_.end());
    positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
    frames_ = symbolizer_->frames(positions_);
    if (ranges.empty()) return;
    for (std::vector<Frame>& frames : frames_) name_by_symbol(ranges[0], &frames);
  }

  std::optional<HotLine> hottest(uint32_t function, const OwnFiles* own) {
    FunctionLines lines(positions_, frames_, own, object_);
    if (lines.empty()) return std::nullopt;
    for (const WeightedPosition& place : ticks_)
      if (LineTicks* line = lines.at(place.position)) line->own += place.ticks;
    count_calls(function, &lines);
    const LineTicks* line = lines.hottest();
    const auto all = static_cast<double>(std::max<uint64_t>(profile_.ledger.ticks(), 1));
    const double share = static_cast<double>(line->ticks()) / all;
    if (share < kLeastOfLine) return std::nullopt;
    return HotLine{.file = line->file,
                   .line = line->line,
                   .function = line->function,
                   .linkage = line->linkage,
                   .share = std::min(share, 1.0),
                   .most = std::min(static_cast<double>(line->most_ticks()) / all, 1.0),
                   .interval = {},
                   .calls = line->called > line->own,
                   .digests = symbolizer_->digests(positions_),
                   .owner = symbolizer_->owner(),
                   .built_unix_ns = symbolizer_->code(positions_[0], positions_[0] + 1).changed_unix_ns};
  }

  void count_calls(uint32_t function, FunctionLines* lines) {
    const auto line_of = [&](uint32_t node) {
      const bool ours = functions_.context[node] == function && is_call_[node];
      return ours ? lines->at(tree_[node].position) : nullptr;
    };
    walk_paths(
        tree_,
        [&](uint32_t node) {
          if (LineTicks* line = line_of(node)) {
            if (line->on_path++ == 0) line->called += below_[node];
          } else if (functions_.context[node] == function) {
            for (LineTicks& call : lines->lines())
              if (call.on_path != 0) call.below += tree_[node].self + tree_[node].folded;
          }
          if (tree_[node].folded == 0) return;
          for (LineTicks& call : lines->lines())
            if (call.on_path == 0) call.folded += tree_[node].folded;
        },
        [&](uint32_t node) {
          if (LineTicks* line = line_of(node)) --line->on_path;
        });
  }

  const Profile& profile_;
  const PathTree& tree_;
  ObjectNames& names_;
  const PathFunctions& functions_;
  const OwnFiles own_;
  std::vector<uint64_t> below_;
  std::vector<bool> is_call_;  ///< of each node of the context tree
  // For the function that is looked up now:
  Symbolizer* symbolizer_ = nullptr;
  std::string object_;  ///< its path
  std::vector<WeightedPosition> ticks_;
  std::vector<uint64_t> positions_;
  std::vector<std::vector<Frame>> frames_;
};

}  // namespace

std::optional<HotLine> hot_line(const Profile& profile, ObjectNames& names, const PathFunctions& functions,
                                const std::vector<uint32_t>& path) {
  return HotLineSearch(profile, names, functions).run(path);
}

}  // namespace pctally
