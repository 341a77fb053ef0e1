// Resolves the ticks that processes put aside: code of libraries they loaded later, and code without a file.
#pragma once
#include "process/address_space.h"
#include "tick/deferred.h"

namespace pctally {

/// What the resolver knows of a process that puts ticks aside.
struct KnownProcess {
  int32_t pid = 0;       ///< 0: the calling process
  bool readable = true;  ///< its mappings may be read
  AddressSpace space;
  bool fresh = false;      ///< its mappings were read in this turn
  uint64_t looked_up = 0;  ///< the 64 KiB they were last searched for
};

/// The place in the ring and what to do about a writer that died half-way.
struct ResolverState {
  uint32_t stuck_at = 0;
  unsigned stuck_turns = 0;
};

/// A mark in the ring: ticks of that process in [pc, end) before it lie in what is gone.
inline bool is_unload(const DeferredTick& tick) noexcept { return tick.weight == 0; }

/// Counts one deferred tick where it belongs. The process's mappings are read again, at most once per turn
/// for each 64 KiB of addresses, when the pc is in none of those known. Code without a file gets a window. A
/// process that is gone leaves it outside. The mappings of one that is not `readable` are left alone.
void resolve_tick(ProfileFile* file, KnownProcess* process, const DeferredTick& deferred) noexcept;

/// PathPlace of an address in the process; 0 if it lies in none of its mappings, which are read as above.
uint64_t resolve_place(ProfileFile* file, KnownProcess* process, uint64_t address) noexcept;

/// The next tick put aside, and its slot free again; false when there is none. A slot still unfinished after
/// fifty turns (or, with `final`, at once) is given up: its tick stays unresolved. One thread.
/// Whatever the ring says it returns after at most as many steps as the ring has slots.
bool take_deferred(ProfileFile* file, ResolverState* state, bool final, DeferredTick* deferred) noexcept;

}  // namespace pctally
