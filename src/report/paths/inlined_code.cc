#include "report/paths/inlined_code.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace pctally {
namespace {

/// A chain by what tells it from others: function, file and line of each frame.
using InlinedChain = std::vector<std::tuple<std::string, std::string, uint32_t>>;

/// A function's ticks: by their own places, and of those the part that a choice has.
struct OwnTicks {
  uint64_t all = 0, chosen = 0;
};

class InlinedCodeFinder {
 public:
  InlinedCodeFinder(const Profile& profile, ObjectNames& names) : profile_(profile), names_(names) {}

  std::vector<InlinedCode> run() {
    const std::vector<WeightedPosition>& all = whole_of(profile_).positions;
    for_each_executable(all, [this](uint32_t executable, std::span<const WeightedPosition> positions) {
      add_chains(executable, positions);
    });
    if (profile_.whole != nullptr) narrow();
    std::vector<InlinedCode> list;
    for (auto& [key, code] : found_) list.push_back(std::move(code));
    return list;
  }

 private:
  using Function = std::pair<uint32_t, uint64_t>;  // executable, start

  template <class Visit>
  static void for_each_executable(std::span<const WeightedPosition> positions, Visit&& visit) {
    while (!positions.empty()) {
      const uint32_t executable = positions.front().executable;
      const auto end = std::ranges::find_if(
          positions, [&](const WeightedPosition& position) { return position.executable != executable; });
      const auto count = static_cast<size_t>(end - positions.begin());
      visit(executable, positions.first(count));
      positions = positions.subspan(count);
    }
  }

  void add_chains(uint32_t executable, std::span<const WeightedPosition> positions) {
    Symbolizer& symbolizer = names_.symbolizer(executable);
    while (!positions.empty()) {
      const auto some = positions.first(std::min(positions.size(), Symbolizer::kFramesAtATime));
      const std::vector<uint64_t> places = places_of(some);
      std::vector<NamedRange> symbols = symbolizer.name(places);
      std::vector<std::vector<Frame>> frames = symbolizer.frames(places);
      for (size_t i = 0; i < some.size(); ++i)
        add_chain(executable, std::move(symbols[i]), std::move(frames[i]), some[i].ticks);
      positions = positions.subspan(some.size());
    }
  }

  void add_chain(uint32_t executable, NamedRange symbol, std::vector<Frame> frames, uint64_t ticks) {
    const Function function{executable, symbol.start};
    own_[function].all += ticks;
    if (frames.size() < 2) return;
    frames.front().line = 0;  // of the place that ran; the others' are of calls
    frames.front().file.clear();
    InlinedChain chain;
    for (const Frame& frame : frames) chain.emplace_back(frame.function, frame.file, frame.line);
    const auto [entry, fresh] = found_.try_emplace({function, std::move(chain)});
    InlinedCode& code = entry->second;
    if (fresh) code.frames = stack_frames(profile_, executable, std::move(symbol), std::move(frames), names_);
    code.low = code.high += ticks;
  }

  /// A choice has some of a function's ticks, and does not say at which places.
  void narrow() {
    for_each_executable(
        profile_.positions, [this](uint32_t executable, std::span<const WeightedPosition> positions) {
          const std::vector<NamedRange> symbols = names_.symbolizer(executable).name(places_of(positions));
          for (size_t i = 0; i < positions.size(); ++i)
            own_[{executable, symbols[i].start}].chosen += positions[i].ticks;
        });
    for (auto& [key, code] : found_) {
      const OwnTicks& own = own_.at(key.first);
      const uint64_t left_out = own.all - std::min(own.all, own.chosen);
      code.low -= std::min(code.low, left_out);
      code.high = std::min(code.high, own.chosen);
    }
    std::erase_if(found_, [](const auto& entry) { return entry.second.high == 0; });
  }

  static std::vector<uint64_t> places_of(std::span<const WeightedPosition> positions) {
    std::vector<uint64_t> places;
    for (const WeightedPosition& position : positions) places.push_back(position.position);
    return places;
  }

  const Profile& profile_;
  ObjectNames& names_;
  std::map<Function, OwnTicks> own_;
  std::map<std::pair<Function, InlinedChain>, InlinedCode> found_;
};

}  // namespace

std::vector<InlinedCode> find_inlined_code(const Profile& profile, ObjectNames& names) {
  return InlinedCodeFinder(profile, names).run();
}

}  // namespace pctally
