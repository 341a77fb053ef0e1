#include "engine/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

namespace pctally {
namespace {

perf_event_attr attributes(const PerfSettings& settings) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = settings.period_ns;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.read_format = PERF_FORMAT_ID | (settings.lost_count ? PERF_FORMAT_LOST : 0);
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.inherit_thread = !settings.children;
  attr.exclude_kernel = !settings.kernel;
  attr.exclude_hv = 1;
  attr.mmap = attr.mmap2 = 1;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.build_id = settings.build_ids;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = settings.ring_pages * static_cast<uint32_t>(sysconf(_SC_PAGESIZE)) / 2;
  return attr;
}

volatile perf_event_mmap_page* page_of(const MappedFile& map) noexcept {
  return reinterpret_cast<volatile perf_event_mmap_page*>(map.data());
}

}  // namespace

Result<PerfRing> PerfRing::open(pid_t pid, int cpu, const PerfSettings& settings) {
  perf_event_attr attr = attributes(settings);
  PerfRing ring;
  ring.fd_.reset(static_cast<int>(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!ring.fd_.valid()) return fail(errno, "perf_event_open: %s", strerror(errno));
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto map = MappedFile::map(ring.fd_.get(), (settings.ring_pages + 1) * page, true);
  if (!map) return std::unexpected(map.error());
  ring.map_ = std::move(*map);
  ring.ring_bytes_ = settings.ring_pages * page;
  ring.lost_count_ = settings.lost_count;
  ioctl(ring.fd_.get(), PERF_EVENT_IOC_ID, &ring.id_);
  return ring;
}

PerfCount PerfRing::count() const noexcept {
  uint64_t values[3] = {};  // value, id, lost
  if (read(fd_.get(), values, sizeof values) < static_cast<ssize_t>(2 * sizeof values[0])) return {};
  return {values[0], lost_count_ ? values[2] : 0};
}

void PerfRing::shift_phase(uint64_t period_ns) noexcept {
  ioctl(fd_.get(), PERF_EVENT_IOC_PERIOD, &period_ns);
}

void PerfRing::disable() noexcept { ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0); }

uint64_t PerfRing::head() const noexcept {
  return __atomic_load_n(&page_of(map_)->data_head, __ATOMIC_ACQUIRE);
}

uint64_t PerfRing::tail() const noexcept {
  return __atomic_load_n(&page_of(map_)->data_tail, __ATOMIC_RELAXED);
}

const unsigned char* PerfRing::record_at(uint64_t at, uint64_t head, size_t* bytes) noexcept {
  const unsigned char* ring = map_.data() + (map_.size() - ring_bytes_);
  uint64_t offset = at & (ring_bytes_ - 1);
  perf_event_header header;
  memcpy(&header, ring + offset, sizeof header);  // records are 8-byte aligned: a header never wraps
  *bytes = header.size;
  if (header.size < sizeof header || header.size > head - at) return nullptr;
  if (offset + header.size <= ring_bytes_) return ring + offset;
  if (header.size > sizeof split_) return nullptr;
  size_t first = ring_bytes_ - offset;
  memcpy(split_, ring + offset, first);
  memcpy(split_ + first, ring, header.size - first);
  return split_;
}

void PerfRing::release(uint64_t tail) noexcept {
  __atomic_store_n(&page_of(map_)->data_tail, tail, __ATOMIC_RELEASE);
}

}  // namespace pctally
