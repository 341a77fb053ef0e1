#include "tool/counted_symbolizer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "report/names/object_names.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

struct Address {
  uint64_t position = 0;
  bool named = false, placed = false;  ///< has its name, its lines
};

/// The addresses that are to be named, each once, however many views ask for it.
class Addresses {
 public:
  void add(const ExecutableIdentity& object, std::span<const uint64_t> ascending) {
    std::vector<Address>& known = objects_[object];
    const size_t before = known.size();
    for (uint64_t position : ascending) known.push_back({.position = position});
    std::ranges::inplace_merge(known, known.begin() + static_cast<ptrdiff_t>(before), {}, &Address::position);
    const auto rest = std::ranges::unique(known, {}, &Address::position);  // keeps the first: the known one
    known.erase(rest.begin(), rest.end());
    all_ += known.size() - before;
  }

  /// Those of `positions` that are expected and come for the first time are added to *number.
  void mark(const ExecutableIdentity& object, std::span<const uint64_t> positions, bool Address::*what,
            uint64_t* number) {
    const auto known = objects_.find(object);
    if (known == objects_.end()) return;
    for (uint64_t position : positions) {
      const auto address = std::ranges::lower_bound(known->second, position, {}, &Address::position);
      if (address == known->second.end() || address->position != position || (*address).*what) continue;
      (*address).*what = true;
      ++*number;
    }
  }

  [[nodiscard]] uint64_t all() const { return all_; }

 private:
  std::map<ExecutableIdentity, std::vector<Address>> objects_;
  uint64_t all_ = 0;
};

Addresses& addresses() {
  static Addresses addresses;
  return addresses;
}
uint64_t g_named = 0;   ///< addresses with names so far
uint64_t g_placed = 0;  ///< with lines

void show_names() { ProgressLine::show(progress_text("names", g_named, addresses().all(), "addresses")); }
void show_lines() { ProgressLine::show(progress_text("lines", g_placed, addresses().all(), "addresses")); }

class CountedSymbolizer : public Symbolizer {
 public:
  CountedSymbolizer(ExecutableIdentity identity, std::unique_ptr<Symbolizer> inner)
      : identity_(std::move(identity)), inner_(std::move(inner)) {}

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
    addresses().mark(identity_, positions, &Address::named, &g_named);
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
      addresses().mark(identity_, part, &Address::placed, &g_placed);
      show_lines();
    }
    return all;
  }

 private:
  ExecutableIdentity identity_;
  std::unique_ptr<Symbolizer> inner_;
};

/// Ticks are at positions; code on a path may have none.
std::vector<std::pair<uint32_t, uint64_t>> places_of(const Profile& profile) {
  std::vector<std::pair<uint32_t, uint64_t>> places;
  for (const WeightedPosition& position : profile.positions)
    places.emplace_back(position.executable, position.position);
  for (const PathTree* tree : {&profile.paths.context, &profile.paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) places.emplace_back(node.executable, node.position);
  std::ranges::sort(places);
  return places;
}

}  // namespace

void expect_addresses(const Profile& profile) {
  if (!ProgressLine::exists()) return;
  const auto places = places_of(profile);
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < places.size(); ++i) {
    positions.push_back(places[i].second);
    const uint32_t executable = places[i].first;
    if (i + 1 < places.size() && places[i + 1].first == executable) continue;
    addresses().add(identity_of(profile, profile.executables[executable]), positions);
    positions.clear();
  }
}

std::unique_ptr<Symbolizer> open_counted(const ExecutableIdentity& identity, SymbolizerOpener open) {
  if (!ProgressLine::exists()) return open(identity);
  show_names();
  return std::make_unique<CountedSymbolizer>(identity, open(identity));
}

}  // namespace pctally
