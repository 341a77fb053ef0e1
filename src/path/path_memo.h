// Remembers complete paths, so that the recorder need not walk the same stack twice.
//
// A complete path follows from the code of the process, the program counter and the return addresses: the
// place of a frame decides which rule it has, and where its return address lies among the words that were
// copied. Stacks that were copied as memory are not remembered: a walk has to find where their return
// addresses are.
#pragma once
#include <memory>
#include <vector>

#include "path/unwinder.h"

namespace pctally {

/// Not thread-safe. Forgets by overwriting.
class PathMemo {
 public:
  /// The frames of that stack, or null. `version`: CodeSpace::version(); `behind`: frames stand before those
  /// of the stack.
  const std::vector<PathFrame>* find(uint64_t version, const StackSample& stack, bool behind);

  /// Remembers what find() was asked for last.
  void put(std::span<const PathFrame> frames);

 private:
  struct Entry {
    std::vector<uint64_t> key;
    std::vector<PathFrame> frames;
  };
  bool make_key(uint64_t version, const StackSample& stack, bool behind);

  static constexpr size_t kEntries = 4096;  ///< of some 500 bytes for 20 frames
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<uint64_t> key_;  ///< of what was asked for last; empty: it is not to be remembered
  size_t place_ = 0;           ///< of that
};

}  // namespace pctally
