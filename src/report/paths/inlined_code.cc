#include "report/paths/inlined_code.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/rollup.h"

namespace pctally {
namespace {

/// A chain by what distinguishes it from others: function, file and line of each frame.
using InlinedChain = std::vector<std::tuple<std::string, std::string, uint32_t>>;

/// A function's ticks: by their own places, and of those the part that a choice has.
struct OwnTicks {
  uint64_t all = 0, chosen = 0;
};

class InlinedCodeFinder {
 public:
  InlinedCodeFinder(const Profile& profile, ObjectNames& names)
      : profile_(profile), names_(names), has_ticks_(profile.executables.size()) {
    for (const WeightedPosition& place : profile.positions) has_ticks_[place.executable] = true;
  }

  std::vector<InlinedCode> run() {
    for_each_batch(whole_of(profile_), [this](const ExecutableTicks& part) { add_chains(part); });
    if (profile_.whole != nullptr) narrow();
    std::vector<InlinedCode> list;
    for (auto& [key, code] : found_) list.push_back(std::move(code));
    return list;
  }

 private:
  using Function = std::pair<uint32_t, uint64_t>;  // executable, start

  /// Names nothing in an executable without a tick of the choice.
  void add_chains(const ExecutableTicks& part) {
    if (!has_ticks_[part.executable]) return;
    Symbolizer& symbolizer = names_.symbolizer(part.executable);
    std::vector<NamedRange> symbols = symbolizer.name(part.positions);
    visit_frames(symbolizer, part.positions, [&](size_t i, std::vector<Frame> frames) {
      add_chain(part.executable, std::move(symbols[i]), std::move(frames), part.ticks[i]);
    });
  }

  void add_chain(uint32_t executable, NamedRange symbol, std::vector<Frame> frames, uint64_t ticks) {
    const Function function{executable, symbol.start};
    own_[function].all += ticks;
    if (frames.size() < 2) return;
    InlinedChain chain;
    for (const Frame& frame : frames) chain.emplace_back(frame.function, frame.file, frame.line);
    std::get<1>(chain.front()).clear();  // of the place that ran; the others' are of calls
    std::get<2>(chain.front()) = 0;
    const auto [entry, fresh] = found_.try_emplace({function, std::move(chain)});
    InlinedCode& code = entry->second;
    if (fresh) {
      code.frames = stack_frames(executable, std::move(symbol), std::move(frames), names_);
      code.frames.back().file.clear();
      code.frames.back().line = 0;
    }
    code.low = code.high += ticks;
  }

  /// A choice has some of a function's ticks, and does not say at which places.
  void narrow() {
    for_each_batch(profile_, [this](const ExecutableTicks& part) {
      const std::vector<NamedRange> symbols = names_.name_ticks(part.executable, part.positions);
      for (size_t i = 0; i < symbols.size(); ++i)
        own_[{part.executable, symbols[i].start}].chosen += part.ticks[i];
    });
    for (auto& [key, code] : found_) {
      const OwnTicks& own = own_.at(key.first);
      const uint64_t left_out = own.all - std::min(own.all, own.chosen);
      code.low -= std::min(code.low, left_out);
      code.high = std::min(code.high, own.chosen);
    }
    std::erase_if(found_, [](const auto& entry) { return entry.second.high == 0; });
  }

  const Profile& profile_;
  ObjectNames& names_;
  std::vector<bool> has_ticks_;  ///< by executable
  std::map<Function, OwnTicks> own_;
  std::map<std::pair<Function, InlinedChain>, InlinedCode> found_;
};

}  // namespace

std::vector<InlinedCode> find_inlined_code(const Profile& profile, ObjectNames& names) {
  return InlinedCodeFinder(profile, names).run();
}

}  // namespace pctally
