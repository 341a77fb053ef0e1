#include "perf/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/kernel/perf_event.h"
#include "perf/record.h"
#include "tick/wide_counter.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

namespace pctally {
namespace {

constexpr Event kRecordsAlone = {"dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0};

/// A burst of stacks is read while it lasts.
uint32_t wakeup_bytes(const PerfSettings& settings) noexcept {
  constexpr uint32_t kOfBursts = 1 << 20;
  const bool bursts = settings.stack_bytes != 0 && !settings.event.is_cpu_time();
  return bursts ? std::min(settings.ring_bytes() / 2, kOfBursts) : settings.ring_bytes() / 2;
}

perf_event_attr attributes(PerfScope scope, const PerfSettings& settings) noexcept {
  bool of_task = scope.kind == PerfScope::Kind::kTask;
  perf_event_attr attr = settings.samples ? tick_attributes(settings.event, settings.period, settings.kernel)
                                          : tick_attributes(kRecordsAlone, 0, settings.kernel);
  // For a task, cpu-clock counts more time than the scheduler charges: a third more where it sleeps often.
  if (of_task && settings.samples && settings.event.is_cpu_time()) attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (settings.samples && settings.stack_bytes != 0) {
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.exclude_callchain_user = 1;
    attr.exclude_callchain_kernel = !settings.kernel;
    for (const NumberedRegister& wanted : kNumberedRegisters)
      attr.sample_regs_user |= uint64_t{1} << wanted.number;
    attr.sample_stack_user = settings.stack_bytes;
  }
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID | (settings.lost_count ? PERF_FORMAT_LOST : 0);
  attr.enable_on_exec = of_task && settings.at_exec;
  attr.inherit = of_task;
  attr.inherit_thread = of_task && !settings.children;
  attr.mmap = attr.mmap2 = settings.records;
  attr.comm = attr.comm_exec = settings.records;
  attr.task = settings.records;
  attr.sample_id_all = 1;
  attr.build_id = settings.records && settings.build_ids;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = wakeup_bytes(settings);
  return attr;
}

Result<UniqueFd> open_event(PerfScope scope, int cpu, const PerfSettings& settings) {
  perf_event_attr attr = attributes(scope, settings);
  UniqueFd fd =
      open_perf_event(attr, scope.id, cpu, scope.kind == PerfScope::Kind::kCgroup ? PERF_FLAG_PID_CGROUP : 0);
  if (!fd.valid()) return fail(errno, "%s%s", kPerfEventOpen, strerror(errno));
  return fd;
}

PerfCount count_of(int fd, bool lost_count) noexcept {
  uint64_t values[kPerfCountWords] = {};  // value, time enabled, id, lost
  if (read(fd, values, sizeof values) < static_cast<ssize_t>(3 * sizeof values[0])) return {};
  return {values[0], lost_count ? values[3] : 0, values[1]};
}

volatile perf_event_mmap_page* page_of(const MappedFile& map) noexcept {
  return reinterpret_cast<volatile perf_event_mmap_page*>(map.data());
}

#if PCTALLY_WIDE_ATOMICS
uint64_t acquire(const volatile __u64* word) noexcept { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void put_release(volatile __u64* word, uint64_t value) noexcept {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
#else  // two halves: read until they belong together; the kernel looks at what fits its ring alone
uint64_t acquire(const volatile __u64* word) noexcept {
  uint64_t value = *word;
  for (uint64_t before = ~value; value != before; value = *word) before = value;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return value;
}
void put_release(volatile __u64* word, uint64_t value) noexcept {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  *word = value;
}
#endif

}  // namespace

Result<PerfRing> PerfRing::open(PerfScope scope, int cpu, const PerfSettings& settings) {
  PerfRing ring;
  auto fd = open_event(scope, cpu, settings);
  if (!fd) return std::unexpected(fd.error());
  ring.fd_ = std::move(*fd);
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto map = MappedFile::map(ring.fd_.get(), (settings.ring_pages + 1) * page, true);
  if (!map) return std::unexpected(map.error());
  ring.map_ = std::move(*map);
  ring.cpu_ = cpu;
  ring.ring_bytes_ = settings.ring_pages * page;
  ring.lost_count_ = settings.lost_count;
  ring.has_ticks_ = settings.samples;
  ioctl(ring.fd_.get(), PERF_EVENT_IOC_ID, &ring.id_);
  return ring;
}

Result<UniqueFd> PerfRing::open_into(PerfScope scope, const PerfSettings& settings) {
  auto fd = open_event(scope, cpu_, settings);
  if (fd && ioctl(fd->get(), PERF_EVENT_IOC_SET_OUTPUT, fd_.get()) != 0)
    return fail(errno, "PERF_EVENT_IOC_SET_OUTPUT: %s", strerror(errno));
  return fd;
}

Result<void> PerfRing::add_thread(pid_t tid, const PerfSettings& settings) {
  auto fd = open_into(PerfScope::task(tid), settings);
  if (!fd) return std::unexpected(fd.error());
  more_.push_back(std::move(*fd));
  return {};
}

Result<void> PerfRing::add_streams(const PerfSettings& settings) {
  PerfSettings own = settings;
  own.samples = true;
  own.records = false;  // the first event has them
  for (const uint64_t period : settings.streams) {
    own.period = period;
    auto fd = open_into(PerfScope::machine(), own);
    if (!fd) {
      drop_streams();
      return std::unexpected(fd.error());
    }
    streams_.push_back(std::move(*fd));
  }
  return {};
}

PerfCount PerfRing::count() const noexcept {
  PerfCount sum = count_of(fd_.get(), lost_count_);
  for (const UniqueFd& fd : more_) {
    PerfCount count = count_of(fd.get(), lost_count_);
    sum.value += count.value;
    sum.lost += count.lost;
  }
  for (const UniqueFd& fd : streams_) sum.lost += count_of(fd.get(), lost_count_).lost;
  return sum;
}

void PerfRing::enable() noexcept { request(PERF_EVENT_IOC_ENABLE, nullptr); }

void PerfRing::shift_phase(uint64_t period) noexcept { request(PERF_EVENT_IOC_PERIOD, &period); }

void PerfRing::disable() noexcept {
  request(PERF_EVENT_IOC_DISABLE, nullptr);
  for (const UniqueFd& fd : streams_) ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, nullptr);
}

int PerfRing::fd_after(int fd) const noexcept {
  if (more_.empty()) return -1;
  if (fd == fd_.get()) return more_.front().get();
  for (size_t i = 0; i + 1 < more_.size(); ++i)
    if (more_[i].get() == fd) return more_[i + 1].get();
  return -1;
}

void PerfRing::request(unsigned long what, void* argument) noexcept {
  ioctl(fd_.get(), what, argument);
  for (const UniqueFd& fd : more_) ioctl(fd.get(), what, argument);
}

uint64_t PerfRing::head() const noexcept { return acquire(&page_of(map_)->data_head); }

const unsigned char* PerfRing::record_at(uint64_t at, uint64_t head, size_t* bytes) noexcept {
  const unsigned char* ring = map_.data() + (map_.size() - ring_bytes_);
  uint64_t offset = at & (ring_bytes_ - 1);
  perf_event_header header;
  memcpy(&header, ring + offset, sizeof header);  // records are 8-byte aligned: a header never wraps
  *bytes = header.size;
  if (header.size < sizeof header || header.size > head - at) return nullptr;
  if (offset + header.size <= ring_bytes_) return ring + offset;
  size_t first = ring_bytes_ - offset;
  split_.resize(header.size);
  memcpy(split_.data(), ring + offset, first);
  memcpy(split_.data() + first, ring, header.size - first);
  return split_.data();
}

void PerfRing::release() noexcept {
  put_release(&page_of(map_)->data_tail, read_);
  if (!split_.empty())
    explicit_bzero(split_.data(), split_.size());  // it may hold a part of somebody's stack
}

}  // namespace pctally
