#include "process/process_start.h"

#include <unistd.h>

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "histfile/chain.h"
#include "tick/wide_counter.h"

namespace pctally {
namespace {

constexpr unsigned kMostLookedAt = 256;         ///< where nobody knows how old the process is
constexpr uint64_t kFreshNs = 8'000'000;        ///< a process that has used less ran hardly anything before
constexpr int64_t kLongNs = 64'000'000;         ///< 16 kernel ticks at 250 Hz
constexpr int64_t kMostOwedUs = 1'000'000'000;  ///< of a file that says nonsense

const ProcessRecord* record_of(const ProfileFile& file, uint32_t process) noexcept {
  return pool_at<ProcessRecord>(file.pool(), process);
}

/// Adds to what is owed and takes the whole ticks out of it.
uint64_t take_whole_ticks(int32_t* owed_us, int64_t more_us, uint64_t period_ns) noexcept {
  int32_t owed = __atomic_load_n(owed_us, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0; attempt < kMostStepsInHandler; ++attempt) {
    int64_t sum = std::clamp(owed + more_us, -kMostOwedUs, kMostOwedUs);
    uint64_t ticks = sum > 0 ? static_cast<uint64_t>(sum) * 1000 / period_ns : 0;
    auto left = static_cast<int32_t>(sum - static_cast<int64_t>((ticks * period_ns + 500) / 1000));
    if (__atomic_compare_exchange_n(owed_us, &owed, left, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return ticks;
  }
  return 0;
}

/// What the process had used when the older image executed this one; where it did not say so, now.
uint64_t used_before_ns(const ProcessRecord& before, uint64_t used_ns) noexcept {
  const uint64_t at_exec_ns = load_relaxed(&before.cpu_ns);
  return at_exec_ns > before.entered_cpu_ns && at_exec_ns < used_ns ? at_exec_ns : used_ns;
}

/// What no tick of an older image stands for; below 0 where they stand for more than there was.
int64_t unseen_ns(const ProcessRecord* before, bool before_is_whole, uint64_t used_ns,
                  uint64_t period_ns) noexcept {
  if (before == nullptr) return static_cast<int64_t>(used_ns);
  const uint64_t until_ns = used_before_ns(*before, used_ns);
  const auto start = static_cast<int64_t>(used_ns - until_ns);
  const auto since = static_cast<int64_t>(until_ns - before->entered_cpu_ns);
  if (!before_is_whole || since < 0 || since > kLongNs) return start;
  return start + since -
         static_cast<int64_t>((load_relaxed(&before->ticks) - before->start_ticks) * period_ns);
}

}  // namespace

ObjectIdentity start_object() noexcept {
  ObjectIdentity object;
  object.kind = ObjectKind::kStart;
  object.path = "[process start]";
  return object;
}

/// Newest first: behind a record that is older than the process none is its own, but for those that were made
/// at the same moment.
uint32_t image_before(const ProfileFile& file, int32_t pid, uint64_t since_ns) noexcept {
  bool found = false;
  uint32_t seen = 0;
  const uint32_t most = since_ns == 0 ? kMostLookedAt : kMostProcessRecords;
  const uint32_t last = for_each_process(file, most, [&](const ProcessRecord& record, uint32_t) {
    const bool older = record.started_ns < since_ns;
    found = record.pid == pid && !older &&
            (record.flags & (kProcessObserved | kProcessExited)) == kProcessObserved;
    return found || (++seen > kMostLookedAt && older);
  });
  return found ? last : 0;
}

uint32_t own_image_before(const ProfileFile& file, uint64_t used_ns) noexcept {
  const uint32_t found = image_before(file, getpid());
  ProcStat stat;
  return (found == 0 && used_ns < kFreshNs) || !read_proc_stat(0, &stat)
             ? found
             : image_before(file, getpid(), start_ns(stat, CLOCK_MONOTONIC));
}

uint64_t account_start(const ProfileFile& file, uint32_t process, uint32_t before, bool before_is_whole,
                       uint64_t used_ns) noexcept {
  FileHeader& header = file.header();
  auto* record = pool_at<ProcessRecord>(file.pool(), process);
  const uint64_t period_ns = header.period_ns;
  if (period_ns == 0 || record->note == ProcessNote::kTogether) return 0;
  int64_t unseen =
      unseen_ns(before == 0 ? nullptr : record_of(file, before), before_is_whole, used_ns, period_ns);
  record->entered_cpu_ns = used_ns;
  record->start_ticks = take_whole_ticks(&header.start_owed_us, unseen / 1000, period_ns);
  return record->start_ticks;
}

}  // namespace pctally
