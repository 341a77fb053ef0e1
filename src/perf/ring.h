// One CPU's perf event with its ring buffer.
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include <vector>

#include "base/file/mapped_file.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "perf/event.h"
#include "perf/undumped_vector.h"

namespace pctally {

inline constexpr char kPerfEventOpen[] = "perf_event_open: ";  ///< starts the text of that call's errors

/// Whose ticks an event on one CPU gets.
struct PerfScope {
  enum class Kind : uint8_t { kTask, kMachine, kCgroup } kind = Kind::kTask;
  int id = 0;  ///< kTask: a thread's id, 0 for the caller; kCgroup: descriptor of its directory

  static PerfScope task(pid_t tid) { return {Kind::kTask, tid}; }
  static PerfScope machine() { return {Kind::kMachine, -1}; }
  static PerfScope cgroup(int directory) { return {Kind::kCgroup, directory}; }
};

struct PerfSettings {
  Event event = kCpuTime;
  uint64_t period = 1000000;      ///< ns of CPU time, or events, of one tick
  bool whole_machine = true;      ///< a tree of processes may be observed by way of the whole machine
  bool samples = true;            ///< ticks
  bool records = true;            ///< of what processes do: mmap, exec, fork, exit
  bool at_exec = true;            ///< kTask: starts counting at the next exec; else when enabled
  bool kernel = false;            ///< count ticks in kernel mode too
  bool children = true;           ///< follow fork; threads are always followed
  bool build_ids = true;          ///< let the kernel tell build ids (Linux 5.12)
  bool lost_count = true;         ///< PERF_FORMAT_LOST (Linux 6.0)
  std::vector<uint64_t> streams;  ///< periods of further events for ticks on each CPU (perf/tick_phases.h)
  uint32_t ring_pages = 64;       ///< a power of two
  uint32_t stack_bytes = 0;  ///< of the user stack that every tick brings along, a multiple of 8; 0: none

  [[nodiscard]] uint32_t ring_bytes() const {
    return ring_pages * static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  }
};

/// What read(2) on the event says.
struct PerfCount {
  uint64_t value = 0;  ///< CPU time, or events, of all observed tasks on this CPU
  uint64_t lost = 0;   ///< records the ring had no room for, if the kernel counts them
  uint64_t enabled_ns =
      0;  ///< how long the event was there to count: not while its CPU was switched off, nor since
};

inline constexpr size_t kPerfCountWords = 4;  ///< at most, that read(2) on an event gives

class PerfRing {
 public:
  /// Opens an event on one CPU: for a thread and all it starts later, or for all that run there.
  /// Errors: errno of perf_event_open(2) or mmap(2).
  static Result<PerfRing> open(PerfScope scope, int cpu, const PerfSettings& settings);

  /// Lets an event of another thread write into this ring too. Errors: as open(); ESRCH if the
  /// thread is gone.
  Result<void> add_thread(pid_t tid, const PerfSettings& settings);

  /// Opens one event more for each of settings.streams, of all that runs on the CPU; they write into this
  /// ring too, and do not run yet. Errors: as open().
  Result<void> add_streams(const PerfSettings& settings);
  void drop_streams() noexcept { streams_.clear(); }
  [[nodiscard]] const std::vector<UniqueFd>& streams() const noexcept { return streams_; }

  void enable() noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// The descriptor of the ring's next event after that one's; -1: there is none, or it is another ring's.
  [[nodiscard]] int fd_after(int fd) const noexcept;
  [[nodiscard]] int cpu() const noexcept { return cpu_; }
  [[nodiscard]] uint64_t id() const noexcept { return id_; }
  [[nodiscard]] bool has_ticks() const noexcept { return has_ticks_; }
  [[nodiscard]] PerfCount count() const noexcept;

  /// Restarts the running period from now, which moves the ticks to another phase of whatever
  /// the program repeats.
  void shift_phase(uint64_t period) noexcept;
  void disable() noexcept;

  /// Calls visit(const unsigned char* record, size_t bytes) for every record written since release(). What it
  /// is given stays there until release(). Returns how full the ring was, of 1.
  template <class Visit>
  double visit(Visit&& visit) noexcept {
    const uint64_t head = this->head();
    const double fullness = static_cast<double>(head - read_) / static_cast<double>(ring_bytes_);
    while (read_ < head) {
      size_t bytes = 0;
      const unsigned char* record = record_at(read_, head, &bytes);
      if (record == nullptr) break;
      visit(record, bytes);
      read_ += bytes;
    }
    read_ = head;
    return fullness;
  }

  /// Lets the kernel overwrite all that was visited.
  void release() noexcept;

 private:
  [[nodiscard]] uint64_t head() const noexcept;
  const unsigned char* record_at(uint64_t at, uint64_t head, size_t* bytes) noexcept;
  Result<UniqueFd> open_into(PerfScope scope, const PerfSettings& settings);
  void request(unsigned long what, void* argument) noexcept;  ///< an ioctl on all events

  UniqueFd fd_;
  std::vector<UniqueFd> more_;     ///< events of further threads
  std::vector<UniqueFd> streams_;  ///< further events for ticks
  int cpu_ = 0;
  MappedFile map_;
  uint64_t ring_bytes_ = 0;
  uint64_t read_ = 0;  ///< position up to which records were visited
  uint64_t id_ = 0;
  bool lost_count_ = false;
  bool has_ticks_ = true;
  UndumpedVector<unsigned char> split_;  ///< a record that wraps around the ring's end, made whole
};

}  // namespace pctally
