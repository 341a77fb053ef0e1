// What must hold of every profile that a reader of src/import returns, whatever the bytes were.
#pragma once
#include <cstdlib>
#include <string_view>

#include "import/formats.h"

namespace pctally {

inline void check_imported(const Result<Profile>& read) {
  if (!read) return;
  uint64_t counted = 0, paths = 0;
  const WeightedPosition* last = nullptr;
  for (const WeightedPosition& position : read->positions) {
    counted += position.ticks;
    if (position.executable >= read->executables.size()) abort();
    if (last != nullptr && last->executable == position.executable && last->position >= position.position)
      abort();
    last = &position;
  }
  for (size_t i = 0; i < read->paths.context.size(); ++i) {
    const PathTreeNode& node = read->paths.context[i];
    paths += node.self;
    if (node.parent != PathTreeNode::kNoParent && node.parent >= i) abort();
  }
  const TickLedger& ledger = read->ledger;
  if (counted != ledger.counted || ledger.ticks() == 0 || read->period_ns == 0) abort();
  if (read->paths.recorded && paths != ledger.counted + ledger.outside + ledger.full) abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace pctally
