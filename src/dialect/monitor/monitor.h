// The state of monitor(3), of any system, while it is on, and the files it writes at the end.
//
// Does not know how a program counter is counted: each monitor calls its own system's profil.
#pragma once
#include <span>

#include "base/call_lock.h"
#include "base/file/mapped_array.h"
#include "base/immortal.h"
#include "base/result.h"
#include "monfile/write/mon_file.h"
#include "monfile/write/mon_out.h"
#include "tick/region.h"

namespace pctally {

/// The lock of all monitors, to be held, as a CallLock, from entry to return of every call. A profil's own
/// lock is taken inside it.
extern Mutex g_monitors_mutex;

enum class MonFormat : uint8_t { kMonOut, kGmonOut };

/// How the systems differ.
struct MonitorRow {
  MonNaming naming;
  uint64_t period_ns;
  void (*turn_off)();  ///< the profil underneath
};

/// What keep() takes over. The regions are copied; the counters are read when the monitor ends.
struct MonitorPlan {
  std::span<const Region> regions;  ///< ascending and disjoint; `last` is the last pc of the text
  MonFormat format = MonFormat::kGmonOut;
  MonHistogram histogram;   ///< kMonOut: the same as the one region
  bool until_exit = false;  ///< exit(3) writes the file too, as the start-up code of cc -pg did
  bool resumable = false;   ///< after finish() the regions stay, for set_running()
};

/// One per system, in static storage.
class Monitor {
 public:
  constexpr explicit Monitor(const MonitorRow& row) noexcept : row_(row) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Replaces what was on before; its counters are never written. REQUIRES: profil is on. Returns 0,
  /// or ENOMEM, and profil is off.
  [[nodiscard]] int keep(const MonitorPlan& plan) noexcept REQUIRES(g_monitors_mutex);

  /// New zeroed counters that the monitor owns; frees the old ones. Null when memory is refused.
  void* allocate(size_t bytes) noexcept REQUIRES(g_monitors_mutex);

  /// Turns the profil off and writes the file. Does nothing if nothing is on, or in lent memory
  /// (answers_only()).
  void finish() noexcept REQUIRES(g_monitors_mutex);

  /// Turns the profil off, and forgets it: its counters are never written. Does nothing in lent
  /// memory.
  void drop() noexcept REQUIRES(g_monitors_mutex);

  /// Turns the profil off; keep() may follow, or finish().
  void pause() const noexcept { row_.turn_off(); }

  /// After finish() of a plan that is resumable. REQUIRES: profil is on again, with regions().
  void set_running() noexcept REQUIRES(g_monitors_mutex) { finished_ = false; }

  [[nodiscard]] bool active() const noexcept REQUIRES(g_monitors_mutex) {
    return regions_->size() != 0 && !finished_;
  }
  /// Those that are on, halted, or may be resumed; else none.
  [[nodiscard]] std::span<const Region> regions() const noexcept REQUIRES(g_monitors_mutex) {
    return {regions_->data(), regions_->size()};
  }

 private:
  friend void finish_at_exit() noexcept;
  void save() noexcept REQUIRES(g_monitors_mutex);
  Result<void> write() noexcept REQUIRES(g_monitors_mutex);
  Result<void> write_mon(uint64_t base) noexcept REQUIRES(g_monitors_mutex);
  Result<void> write_gmon() noexcept REQUIRES(g_monitors_mutex);
  [[nodiscard]] Result<void> write_object(std::span<const Region> regions, uint64_t base,
                                          const MonPath& path) noexcept;

  const MonitorRow& row_;
  Immortal<MappedArray<Region>> regions_ GUARDED_BY(g_monitors_mutex);
  Immortal<MappedArray<unsigned char>> own_ GUARDED_BY(g_monitors_mutex);
  MonFormat format_ GUARDED_BY(g_monitors_mutex) = MonFormat::kGmonOut;
  MonHistogram histogram_ GUARDED_BY(g_monitors_mutex);
  bool until_exit_ GUARDED_BY(g_monitors_mutex) = false;
  bool resumable_ GUARDED_BY(g_monitors_mutex) = false;
  bool finished_ GUARDED_BY(g_monitors_mutex) = false;
};

}  // namespace pctally
