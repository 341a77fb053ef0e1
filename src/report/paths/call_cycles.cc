#include "report/paths/call_cycles.h"

#include <algorithm>

#include "report/paths/plane_calls.h"

namespace pctally {
namespace {

constexpr uint32_t kUnmet = UINT32_MAX;
constexpr uint32_t kShared = 0;  ///< all functions whose entry of the plane is others', too

/// Tarjan's strongly connected components, without recursion.
class Components {
 public:
  explicit Components(const std::vector<std::vector<uint32_t>>& callees)
      : callees_(callees),
        order_(callees.size(), kUnmet),
        lowest_(callees.size()),
        result_(callees.size(), kUnmet) {}

  std::vector<uint32_t> run() {
    for (uint32_t i = 0; i < callees_.size(); ++i) {
      if (order_[i] == kUnmet) enter(i);
      while (!visits_.empty()) step();
    }
    return std::move(result_);
  }

 private:
  struct Visit {
    uint32_t function;
    size_t next = 0;  ///< of its callees
  };

  void enter(uint32_t function) {
    order_[function] = lowest_[function] = met_++;
    open_.push_back(function);
    visits_.push_back({function});
  }

  void step() {
    Visit& visit = visits_.back();
    const uint32_t function = visit.function;
    if (visit.next == callees_[function].size()) return leave(function);
    const uint32_t callee = callees_[function][visit.next++];
    if (order_[callee] == kUnmet) return enter(callee);
    if (result_[callee] == kUnmet) lowest_[function] = std::min(lowest_[function], order_[callee]);
  }

  void leave(uint32_t function) {
    visits_.pop_back();
    if (!visits_.empty()) {
      uint32_t& lowest = lowest_[visits_.back().function];
      lowest = std::min(lowest, lowest_[function]);
    }
    if (lowest_[function] != order_[function]) return;
    while (result_[function] == kUnmet) {
      result_[open_.back()] = function;
      open_.pop_back();
    }
  }

  const std::vector<std::vector<uint32_t>>& callees_;
  std::vector<uint32_t> order_, lowest_, result_;
  std::vector<uint32_t> open_;  ///< without a component yet
  std::vector<Visit> visits_;
  uint32_t met_ = 0;
};

}  // namespace

std::vector<uint32_t> cycles_of(const std::vector<std::vector<uint32_t>>& callees) {
  return Components(callees).run();
}

CallCycles::CallCycles(const NamedPaths& paths, bool all_known) : all_known_(all_known), callees_(1) {
  add_calls(paths);
  cycles_ = cycles_of(callees_);
}

void CallCycles::add_calls(const NamedPaths& paths) {
  for_each_call_site(paths.plane(), [&](uint32_t site, uint32_t function, uint32_t /*scope*/) {
    uint32_t caller = kUnmet;
    const auto add = [&](const StackFrame& frame) {
      const uint32_t callee = number_of(paths, frame);
      if (caller != kUnmet) callees_[caller].push_back(callee);
      caller = callee;
    };
    for (const StackFrame& frame : paths.plane_frames(site)) add(frame);
    if (!paths.plane_frames(function).empty()) add(paths.plane_frames(function).back());
  });
}

uint32_t CallCycles::number_of(const NamedPaths& paths, const StackFrame& frame) {
  const auto [entry, fresh] = numbers_.try_emplace(function_of(frame), kShared);
  if (!fresh || !paths.known(frame).complete) return entry->second;
  entry->second = static_cast<uint32_t>(callees_.size());
  callees_.emplace_back();
  return entry->second;
}

bool CallCycles::may_return(const StackFrame& caller, const StackFrame& callee) const {
  if (!all_known_) return true;
  const auto first = numbers_.find(function_of(caller)), second = numbers_.find(function_of(callee));
  if (first == numbers_.end() || second == numbers_.end()) return false;
  return cycles_[first->second] == cycles_[second->second];
}

}  // namespace pctally
