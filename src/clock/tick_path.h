// A tick with its call path: what the handlers of all clocks do with the place they interrupted.
#pragma once
#include "tick/own_path.h"
#include "tick/publication.h"

namespace pctally {

/// Counts `weight` ticks where `context` was interrupted, and hands over the path there, if the table in use
/// keeps paths. A tick in a deep stack may be left out, and counted by the next one there (DeepStacks). In a
/// signal handler. REQUIRES: weight >= 1; where tables->may_fault the guard's signals are let through.
void tick_at(PublishedTables* tables, const void* context, uint64_t weight) noexcept;

/// The same of a tick at `pc` that is delivered by hand. False, and it does nothing, if there is no table in
/// use, or a tick has turned it off. Async-signal-safe.
bool tick_by_hand(PublishedTables* tables, uint64_t pc, uint64_t weight) noexcept;

/// Ticks of samples of the calling thread that were left out and that no sample has
/// counted yet. Async-signal-safe.
[[nodiscard]] uint64_t owed_ticks(PublishedTables* tables) noexcept;

/// Opens the mask of a handler of ours for the fault guard, where the interrupted thread blocks what that
/// needs. False behind a seccomp filter, which may kill for it: the tick is not to be taken.
/// Async-signal-safe.
[[nodiscard]] bool open_for_faults(const void* context) noexcept;

/// In the child of a fork: the samples left out were its parent's.
void forget_owed_ticks() noexcept;

/// Notes where the calling thread's own stack is: of a thread that pthread_create(3) has started with `bytes`
/// of stack (0: the default), or of the main thread. Its ticks may then read that stack in any case. Any
/// other stack is read only where the fault guard is in front.
void know_own_stack(uint64_t bytes) noexcept;
void know_main_stack() noexcept;

/// The unwind tables of the object that holds `address`. Async-signal-safe.
bool find_own_tables(uint64_t address, CfiSections* found) noexcept;

/// Sets how this process's unwind tables are found, and where the code is that nothing calls (entry points).
void know_own_code(OwnPaths* paths) noexcept;

/// False where the C library cannot tell the tables of a loaded object in a signal handler
/// (glibc before 2.35).
[[nodiscard]] bool can_find_own_tables() noexcept;

}  // namespace pctally
