// Which functions may be on a stack twice: those that call each other in a circle, or themselves.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "report/paths/named_paths.h"

namespace pctally {

class CallCycles {
 public:
  /// The cycles of the calls in the call plane. `all_known`: no call is missing there.
  CallCycles(const NamedPaths& paths, bool all_known);

  /// Whether `callee` may call `caller`, directly or through others. REQUIRES: a call from `caller` to
  /// `callee`.
  [[nodiscard]] bool may_return(const StackFrame& caller, const StackFrame& callee) const;

 private:
  uint32_t number_of(const NamedPaths& paths, const StackFrame& frame);
  void add_calls(const NamedPaths& paths);

  bool all_known_;
  std::map<StackFunction, uint32_t> numbers_;
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<uint32_t> cycles_;  ///< of each number
};

/// For each function the number of its cycle. Those that call each other in a circle have one number.
std::vector<uint32_t> cycles_of(const std::vector<std::vector<uint32_t>>& callees);

}  // namespace pctally
