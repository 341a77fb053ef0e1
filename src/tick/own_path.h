// The call path of a tick, taken by the interrupted thread itself, in the signal handler: it reads its own
// stack and the unwind tables of the objects it has loaded, and writes the path into slots. Those of a
// profile file are a recorder's to empty; where there is none (OwnPaths::trees) the slots are memory of the
// process's own, and the handler counts the path itself and frees them. x86-64 and aarch64.
//
// Calls nothing but `find_tables`; makes no system call, takes no lock and no memory. It can fault: at a
// stack that is not known (OwnStack::may_fault), and where another thread unloads a library in this moment.
// Whoever calls walk_own_stack() lands such a fault, and closes the path all the same.
#pragma once
#include "tick/path_count.h"
#include "tick/path_slots.h"
#include "tick/region.h"
#include "tick/unwind/cfi.h"
#include "tick/unwind/frameless.h"

namespace pctally {

/// What a process needs to hand over paths. Outlives the tables that name it.
struct OwnPaths {
  /// The unwind tables of the object that holds `address`; false if there are none. Async-signal-safe.
  using FindTables = bool (*)(uint64_t address, CfiSections* found) noexcept;
  PathSlots slots;
  uint32_t process = 0;  ///< as PathSlot's
  uint32_t program = 0;
  FindTables find_tables = nullptr;
  uint64_t entry_points[2] = {};     ///< of the program and of its interpreter: nothing calls the code there
  FramelessFunctions frameless{};    ///< of the vdso
  const PathTrees* trees = nullptr;  ///< null: paths are handed over. Else code that the table in use does
                                     ///< not know ends a path: nobody looks it up later
  uint64_t scope = 0;                ///< of the trees: PathPlace
};

struct OwnStack {
  static constexpr uint64_t kGuessedBytes = 1 << 20;  ///< of a stack that is not known

  UnwindRegisters registers;
  uint64_t end = 0;           ///< the walk reads from the stack pointer up to here
  bool may_fault = false;     ///< it may go on in any other stack that a signal handler has interrupted:
  uint64_t thread_end = 0;    ///< that of the thread, which ends here,
  uint64_t thread_bytes = 0;  ///< or one that is not known
};

/// A path between its first slot and its handing over.
struct OwnPath {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t first = kNone;
  uint32_t last = kNone;
  uint32_t frames = 0;
  PathEnd end = PathEnd::kUnreadable;  ///< so where a fault ends the walk
  bool by_table = false;               ///< as PathSlot's
};

/// False if there is no slot for it; the ticks are then booked, or counted, as without room.
bool open_own_path(const OwnPaths& paths, uint64_t ticks, OwnPath* path) noexcept;

/// Writes the frames of the interrupted thread. `table`: the process's.
void walk_own_stack(const RegionTable& table, const OwnStack& stack, OwnPath* path) noexcept;

/// Writes the place of a tick as all of its path. `table`: the process's.
void add_tick_place(const RegionTable& table, uint64_t pc, OwnPath* path) noexcept;

/// Adds the path of a tick that is counted by hand: its place, and a cut, since its stack is not known.
void add_place_by_hand(const RegionTable& table, uint64_t pc, OwnPath* path) noexcept;

/// A path of one place that nothing calls.
void add_own_place(const OwnPaths& paths, uint64_t place, OwnPath* path) noexcept;

/// Hands it over, or counts it. REQUIRES: open_own_path().
void close_own_path(const OwnPaths& paths, const OwnPath& path) noexcept;

}  // namespace pctally
