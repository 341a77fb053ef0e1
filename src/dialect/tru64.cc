// profil(2) of Tru64 UNIX: one range of 16-bit counters, or up to 64 of 32-bit counters.
#include "pctally/tru64.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/region_builder.h"

namespace pctally {
namespace {

static_assert(kTick1024Hz == uint64_t{1000000000} / PCTALLY_TRU64_CLK_TCK, "getsysinfo(GSI_CLK_TCK) says so");

constinit Session g_tru64("tru64");  // one for both forms: they exclude each other

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

/// The entry names no buffer size: highpc bounds it.
Entry entry_of(const pctally_tru64_profil_args& args) noexcept {
  return {.base = args.buffer,
          .bytes = Entry::kAsNeeded,
          .offset = address(args.offset),
          .scale = args.scale,
          .low = address(args.lowpc),
          .high = address(args.highpc)};
}

int extended(const pctally_tru64_profil_args* args, int count, unsigned long flags) noexcept
    REQUIRES(g_sessions_mutex) {
  if (count < 1 || count > kTru64MostEntries || flags != 0) return EINVAL;
  auto number = static_cast<size_t>(count);
  if (!readable(args, number * sizeof *args)) return EFAULT;
  RegionBuilder builder(kTru64Profil, CellKind::kU32, number);
  for (size_t i = 0; i < number; ++i)
    if (int error = builder.add(entry_of(fetch(args + i))); error != 0) return error;
  return builder.start(&g_tru64, kTru64Profil.period_ns);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_tru64_profil(void* buffer, long buffer_size, long offset,
                                               unsigned long scale_or_flags) {
  SessionsLock lock;
  if (offset == kTru64Extended) {
    // The page has an int there: a caller with its prototype leaves the upper half of the register as it was.
    set_errno(extended(static_cast<const pctally_tru64_profil_args*>(buffer), static_cast<int>(buffer_size),
                       scale_or_flags));
    return;
  }
  set_errno(profil_one(&g_tru64, kTru64Profil,
                       {.base = buffer,
                        .bytes = static_cast<uint32_t>(buffer_size),
                        .offset = static_cast<uint64_t>(offset),
                        .scale = static_cast<uint32_t>(scale_or_flags)}));
}
