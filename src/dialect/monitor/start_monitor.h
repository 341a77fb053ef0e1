// monstartup(3): a monitor with counters of its own, which writes gmon.out when the process ends,
// if not before.
#pragma once
#include "dialect/monitor/monitor.h"
#include "dialect/monitor/text_object.h"
#include "dialect/policy.h"

namespace pctally {

inline constexpr uint64_t kOneRegion = uint64_t{1} << 62;  ///< of any length

struct StartMonitor {
  Monitor& monitor;
  const char* system;  ///< the session's, of the profil
  const DialectPolicy& policy;
  CellKind kind;
  uint32_t scale;
  uint64_t width;                                  ///< bytes of text per counter
  uint64_t longest;                                ///< bytes of text in one region, a multiple of width
  int (*profil)(std::span<const Region> regions);  ///< turns it on; 0 or an errno
  bool resumable = false;                          ///< moncontrol(1) goes on with the same counters
};

/// REQUIRES: ranges that ascend and are disjoint. Ends what was on before and writes its file. Returns 0 or
/// an errno: EINVAL (an empty range, or none), and nothing has changed; ENOMEM or one of the profil, and
/// nothing is on.
int start_monitor(const StartMonitor& system, std::span<const TextRange> text, MonFormat format) noexcept
    REQUIRES(g_monitors_mutex);

/// monstartup, moncontrol and _mcleanup as BSD and glibc have them: one range, gmon.out, errors in errno
/// alone. Each takes g_monitors_mutex. `call` is the exported function, which is named if it fails.
void call_monstartup(const StartMonitor& system, uint64_t low, uint64_t high,
                     const char* call = __builtin_FUNCTION()) noexcept;
/// Does nothing without a monitor. Returns 1 if the profile was on before, 0 if not, -1 with errno if it
/// cannot be resumed.
int call_moncontrol(const StartMonitor& system, int mode, const char* call = __builtin_FUNCTION()) noexcept;
void call_mcleanup(const StartMonitor& system) noexcept;

}  // namespace pctally
