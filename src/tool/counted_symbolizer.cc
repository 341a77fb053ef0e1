#include "tool/counted_symbolizer.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

uint64_t g_expected = 0;
uint64_t g_named = 0;   ///< addresses with names so far
uint64_t g_placed = 0;  ///< with lines

void show_names() { ProgressLine::show(progress_text("names", g_named, g_expected, "addresses")); }
void show_lines() { ProgressLine::show(progress_text("lines", g_placed, g_expected, "addresses")); }

class CountedSymbolizer : public Symbolizer {
 public:
  explicit CountedSymbolizer(std::unique_ptr<Symbolizer> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] const std::string& object_name() const override { return inner_->object_name(); }
  [[nodiscard]] const std::string& problem() const override { return inner_->problem(); }
  [[nodiscard]] const std::string& code_problem() const override { return inner_->code_problem(); }
  [[nodiscard]] const std::string& line_problem() const override { return inner_->line_problem(); }
  [[nodiscard]] std::optional<uid_t> owner() const override { return inner_->owner(); }
  [[nodiscard]] bool is_from_profile() const override { return inner_->is_from_profile(); }
  std::optional<uint64_t> position(uint64_t address) override { return inner_->position(address); }
  SourceDigests digests(std::span<const uint64_t> positions) override { return inner_->digests(positions); }

  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    show_names();
    std::vector<NamedRange> ranges = inner_->name(positions);
    g_named += positions.size();
    show_names();
    return ranges;
  }

  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override {
    return inner_->aliases(starts);
  }

  CodeBytes code(uint64_t start, uint64_t end) override {
    ProgressLine::show("reading the code of " + object_name());
    return inner_->code(start, end);
  }

  /// A part at a time, which takes no longer: names would.
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all;
    all.reserve(positions.size());
    show_lines();
    while (!positions.empty()) {
      const auto part = positions.first(std::min(positions.size(), kFramesAtATime));
      std::vector<std::vector<Frame>> some = inner_->frames(part);
      std::move(some.begin(), some.end(), std::back_inserter(all));
      positions = positions.subspan(part.size());
      g_placed += part.size();
      show_lines();
    }
    return all;
  }

 private:
  std::unique_ptr<Symbolizer> inner_;
};

/// In code on a path, each once.
uint64_t count_path_addresses(const CallPaths& paths) {
  std::vector<std::pair<uint32_t, uint64_t>> places;
  for (const PathTree* tree : {&paths.context, &paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) places.emplace_back(node.executable, node.position);
  std::sort(places.begin(), places.end());
  return static_cast<uint64_t>(std::unique(places.begin(), places.end()) - places.begin());
}

}  // namespace

void expect_addresses(const Profile& profile) {
  if (ProgressLine::exists()) g_expected += profile.positions.size() + count_path_addresses(profile.paths);
}

void forget_addresses() { g_expected = 0; }

std::unique_ptr<Symbolizer> open_counted(const ExecutableIdentity& identity, SymbolizerOpener open) {
  if (!ProgressLine::exists()) return open(identity);
  show_names();
  return std::make_unique<CountedSymbolizer>(open(identity));
}

}  // namespace pctally
