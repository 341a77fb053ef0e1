// One CPU's perf event with its ring buffer.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

struct PerfSettings {
  uint64_t period_ns = 1000000;
  bool kernel = false;       ///< count ticks in kernel mode too
  bool children = true;      ///< follow fork; threads are always followed
  bool build_ids = true;     ///< let the kernel tell build ids (Linux 5.12)
  bool lost_count = true;    ///< PERF_FORMAT_LOST (Linux 6.0)
  uint32_t ring_pages = 64;  ///< a power of two
};

/// What read(2) on the event says.
struct PerfCount {
  uint64_t cpu_ns = 0;  ///< CPU time of all observed tasks on this CPU
  uint64_t lost = 0;    ///< records the ring had no room for, if the kernel counts them
};

class PerfRing {
 public:
  /// Opens a cpu-clock event for `pid` and all it starts later, on one CPU; it starts counting at the next
  /// exec. Errors: errno of perf_event_open(2) or mmap(2).
  static Result<PerfRing> open(pid_t pid, int cpu, const PerfSettings& settings);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] uint64_t id() const noexcept { return id_; }
  [[nodiscard]] PerfCount count() const noexcept;

  /// Restarts the running period from now, which moves the ticks to another phase of whatever the program
  /// repeats.
  void shift_phase(uint64_t period_ns) noexcept;
  void disable() noexcept;

  /// Calls visit(const unsigned char* record, size_t bytes) for every record written so far, then frees their
  /// space.
  template <class Visit>
  void drain(Visit&& visit) noexcept {
    uint64_t head = this->head(), tail = this->tail();
    while (tail < head) {
      size_t bytes = 0;
      const unsigned char* record = record_at(tail, head, &bytes);
      if (record == nullptr) break;
      visit(record, bytes);
      tail += bytes;
    }
    release(head);
  }

 private:
  [[nodiscard]] uint64_t head() const noexcept;
  [[nodiscard]] uint64_t tail() const noexcept;
  const unsigned char* record_at(uint64_t at, uint64_t head, size_t* bytes) noexcept;
  void release(uint64_t tail) noexcept;

  UniqueFd fd_;
  MappedFile map_;
  uint64_t ring_bytes_ = 0;
  uint64_t id_ = 0;
  bool lost_count_ = false;
  alignas(8) unsigned char split_[65536 / 8] = {};  ///< a record that wraps around the ring's end, made whole
};

}  // namespace pctally
