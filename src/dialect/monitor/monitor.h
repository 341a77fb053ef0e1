// What monitor(3) of every system keeps while it is on, and the files it leaves behind when it ends.
//
// Refuses to know how a program counter is counted: under each monitor lies its own system's profil.
#pragma once
#include <span>

#include "base/immortal.h"
#include "base/mapped_array.h"
#include "base/result.h"
#include "monfile/write/mon_file.h"
#include "monfile/write/mon_out.h"
#include "tick/region.h"

namespace pctally {

/// The lock of all monitors, to be held from entry to return of every call. A profil's own lock is taken
/// inside it. Not from a signal handler.
class MonitorLock {
 public:
  MonitorLock() noexcept;
  ~MonitorLock();
  MonitorLock(const MonitorLock&) = delete;
  MonitorLock& operator=(const MonitorLock&) = delete;
};

enum class MonFormat : uint8_t { kMonOut, kGmonOut };

/// What one system does differently from the next.
struct MonitorRow {
  MonNaming naming;
  uint64_t period_ns;
  void (*turn_off)();  ///< the profil underneath
};

/// What is on. Borrowed for the call; the counters are read when the monitor ends.
struct MonitorPlan {
  std::span<const Region> regions;  ///< ascending and disjoint; `last` is the last pc of the text
  MonFormat format = MonFormat::kGmonOut;
  MonHistogram histogram;  ///< kMonOut: the same as the one region
  bool until_exit =
      false;  ///< the end of the process writes it too, as the startup file of cc -p and -pg did
};

/// One per system, in static storage. Every member REQUIRES a MonitorLock.
class Monitor {
 public:
  constexpr explicit Monitor(const MonitorRow& row) noexcept : row_(row) {}
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// In the place of what was on before, whose counters are then never written. Called when profil is on.
  [[nodiscard]] bool keep(const MonitorPlan& plan) noexcept;

  /// Zeroed counters of the monitor's own, in the place of those before. Null when memory is refused.
  void* allocate(size_t bytes) noexcept;

  /// Turns the profil off and writes the file. With nothing on it does nothing at all.
  void finish() noexcept;

  /// Turns the profil off; keep() may follow, or finish().
  void pause() const noexcept { row_.turn_off(); }

  [[nodiscard]] bool active() const noexcept { return regions_->size() != 0; }
  [[nodiscard]] std::span<const Region> regions() const noexcept {
    return {regions_->data(), regions_->size()};
  }

 private:
  friend void finish_at_exit() noexcept;
  Result<void> write() noexcept;
  Result<void> write_mon(uint64_t base) noexcept;
  Result<void> write_gmon() noexcept;
  Result<void> write_object(const struct TextObject& object, bool plain, MonPath path) noexcept;

  const MonitorRow& row_;
  Immortal<MappedArray<Region>> regions_;
  Immortal<MappedArray<unsigned char>> own_;
  MonFormat format_ = MonFormat::kGmonOut;
  MonHistogram histogram_;
  bool until_exit_ = false;
};

}  // namespace pctally
