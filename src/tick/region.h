// A text range with its rule and its cells, and the immutable table of them that a tick searches.
#pragma once
#include "tick/bin_index.h"
#include "tick/cell_tree.h"
#include "tick/counter.h"
#include "tick/deferred.h"
#include "tick/ledger.h"

namespace pctally {

struct OwnPaths;
using BinRule = pctally_bin_rule;

enum class CellKind : uint8_t {
  kU16,
  kU32,
  kU64,
  kTree,  ///< the recorder's: 64-bit cells in the pool, always kSaturate in effect
};

/// A text range [low, last] (both ends inside, so the top of the address space needs no special case)
/// with its cells.
struct Region {
  uint64_t low;
  uint64_t last;
  uint64_t
      reach;  ///< the largest `last` among this region and all before it in the table: ends the search early
  BinRule rule;
  void* cells;         ///< kU16, kU32, kU64: the caller's buffer
  uint64_t tree_bias;  ///< kTree: added to the index
  uint32_t directory;  ///< kTree: unit of the directory
  uint32_t segment;    ///< kTree: unit of the SegmentRecord, which no tick reads
  CellKind kind;
  WhenFull when_full;
  bool without_file;  ///< kTree: a window of code that no file holds
  bool waits;         ///< kTree: without a directory until the first tick; `segment` is no unit
};

/// Sorted Regions and what happens to the rest. Immutable once published; the cells and the ledger are not.
/// All pointers outlive the table's publication.
struct RegionTable {
  const Region* regions;  ///< ascending by low; of two with the same low the one searched first stands last
  uint32_t count;
  uint32_t process;            ///< unit of the process record for deferred ticks, 0 if none
  const Region* overflow;      ///< the catch-all cell, or null
  Pool pool;                   ///< for kTree regions
  Ledger* ledger;              ///< never null
  uint64_t* process_ticks;     ///< also raised by every tick's weight, or null
  DeferredRing* deferred;      ///< or null: such ticks are outside
  uint64_t deferred_capacity;  ///< private copy of the ring's size, a power of two
  uint32_t* stopped;  ///< set to 1 by kStop, kStopLate and a fault in the last buffer; ticks that find it set
                      ///< are not ticks; or null
  uint32_t* faulted;  ///< one per region and one for the overflow cell, set to 1 when its memory is gone or
                      ///< read-only: never touched again, its ticks are lost; or null
  const OwnPaths* paths;  ///< where the call paths of its ticks go (own_path.h), or null: nowhere
};

/// The region that a pc belongs to and its index there, or null. If several regions hold the pc, the one
/// with the largest low wins (IRIX: "the largest offset"). Any thread, any signal handler.
const Region* find_region(const RegionTable& table, uint64_t pc, uint64_t* index) noexcept;

/// Sets `reach` of every region and returns true if the regions are in order. For whoever builds a table.
bool seal_regions(Region* regions, uint32_t count) noexcept;

}  // namespace pctally
