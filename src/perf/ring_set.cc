#include "perf/ring_set.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "perf/cpu_numbers.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "perf/refusal.h"
#include "perf/stack_room.h"

namespace pctally {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

/// The kernel writes records at multiples of a word, and these addresses at one in its record.
std::span<const uint64_t> words_of(std::span<const unsigned char> bytes) noexcept {
  return {reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / kWord};
}

constexpr uint32_t kFewestPages = 1;
constexpr double kPressed =
    0.75;  ///< the kernel wakes the reader at 0.5; a ring that lost a record is full but for that
constexpr uint32_t kRecordPages = 64;  ///< of a ring without ticks

/// Tries the call again with less and less of what older kernels and smaller limits refuse. Kernel mode is
/// refused by perf_event_open(2) alone, memory by mmap(2).
Result<PerfRing> open_as_permitted(PerfScope scope, int cpu, PerfSettings* settings) {
  for (;;) {
    auto ring = PerfRing::open(scope, cpu, *settings);
    if (ring) return ring;
    const int error = ring.error().code;
    const bool opening = is_of_opening(ring.error()), refused = error == EACCES || error == EPERM;
    if (opening && refused && settings->kernel) {
      settings->kernel = false;
    } else if (!opening && (refused || error == ENOMEM) && settings->ring_pages > kFewestPages) {
      settings->ring_pages /= 2;
      settings->stack_bytes = std::min(settings->stack_bytes, settings->ring_bytes() / kStacksInARing);
    } else if (error == EINVAL && settings->lost_count) {
      settings->lost_count = false;
    } else if (error == EINVAL && settings->build_ids) {
      settings->build_ids = false;
    } else {
      return ring;
    }
  }
}

std::unexpected<Error> explained(const Error& error, const Target& target) {
  const Refusal refusal = is_of_opening(error) ? explain_refusal(error.code, target) : explain_refusal(error);
  return fail(error.code, "%s%s%s", refusal.reason.c_str(), refusal.remedy.empty() ? "" : "; ",
              refusal.remedy.c_str());
}

}  // namespace

Result<void> RingSet::open(const Target& target, const PerfSettings& settings) {
  auto opened = open_target(target, settings);
  return opened ? opened : explained(opened.error(), target);
}

Result<void> RingSet::open_target(const Target& target, const PerfSettings& settings) {
  settings_ = settings;
  if (settings.stack_bytes != 0) keep_stacks_out_of_dumps();
  if (target.kind == Target::Kind::kMachine) return open_apart(PerfScope::machine());
  if (target.kind == Target::Kind::kCgroup) {
    auto directory = target.open_cgroup();
    if (!directory) return std::unexpected(directory.error());
    return open_apart(PerfScope::cgroup(directory->get()));
  }
  settings_.at_exec = false;
  sees_machine_ = true;
  if (settings.whole_machine && settings.children && open_apart(PerfScope::machine())) return {};
  sees_machine_ = false;
  settings_ = settings;
  settings_.at_exec = target.kind == Target::Kind::kCommand;
  return settings_.at_exec ? open_apart(PerfScope::task(target.processes.at(0)))
                           : open_threads(target.processes);
}

/// The kernel keeps that property of memory when it grows.
void RingSet::keep_stacks_out_of_dumps() {
  constexpr size_t kFirstBytes = 64 << 10;
  for (auto* stacks : {&waiting_, &next_waiting_})
    if (stacks->reserve(kFirstBytes / kWord)) madvise(stacks->data(), kFirstBytes, MADV_DONTDUMP);
}

Result<void> RingSet::open_scope(PerfScope scope) {
  rings_.clear();
  return open_rings(scope, settings_.samples, settings_.records);
}

Result<void> RingSet::open_apart(PerfScope scope) {
  rings_.clear();
  if (auto opened = open_rings(scope, false, true); !opened || !settings_.samples) return opened;
  return open_rings(scope, true, false);
}

Result<void> RingSet::open_rings(PerfScope scope, bool samples, bool records) {
  size_t before = rings_.size();
  for (const int cpu : possible_cpus()) {
    PerfSettings settings = settings_;
    settings.samples = samples;
    settings.records = records;
    if (!samples) settings.ring_pages = std::min(settings.ring_pages, kRecordPages);
    auto ring = open_as_permitted(scope, cpu, &settings);
    settings.samples = settings_.samples;
    settings.records = settings_.records;
    if (!samples) settings.ring_pages = settings_.ring_pages;
    settings_ = settings;
    if (ring) {
      rings_.push_back(std::move(*ring));
      if (samples && scope.kind == PerfScope::Kind::kMachine) (void)rings_.back().add_streams(settings_);
    } else if (ring.error().code != ENODEV) {  // ENODEV: that CPU is offline
      rings_.clear();
      return std::unexpected(ring.error());
    }
  }
  if (rings_.size() == before) return fail(ENODEV, "no CPU accepts a perf event");
  return {};
}

std::vector<PerfRing*> RingSet::rings_of_ticks() {
  std::vector<PerfRing*> rings;
  for (PerfRing& ring : rings_)
    if (ring.has_ticks()) rings.push_back(&ring);
  return rings;
}

/// The rings of the first that is still there, and into them the events of the others.
Result<void> RingSet::open_each(const std::vector<pid_t>& threads) {
  Result<void> opened = fail(ESRCH, "%s: %s", kPerfEventOpen, strerror(ESRCH));
  size_t next = 0;
  while (!opened && opened.error().code == ESRCH && next < threads.size())
    opened = open_scope(PerfScope::task(threads[next++]));
  if (!opened) return opened;
  for (; next < threads.size(); ++next) {
    for (PerfRing& ring : rings_) {
      auto added = ring.add_thread(threads[next], settings_);
      if (!added && added.error().code == EMFILE)
        return fail(EMFILE,
                    "%zu threads need a descriptor each per CPU, more than ulimit -n; raise it, or record as "
                    "root, which needs none per thread",
                    threads.size());
      if (!added && added.error().code != ESRCH) return added;
    }
  }
  return {};
}

/// Threads inherit the event of the one that starts them; those that run already need one each. One that
/// started meanwhile has inherited an event or not: all are opened anew then.
Result<void> RingSet::open_threads(const std::vector<pid_t>& processes) {
  raise_descriptor_limit();
  const auto open = [this](const std::vector<pid_t>& threads) { return open_each(threads); };
  if (auto opened = for_threads_at_rest(processes, open); !opened) return opened;
  enable();
  return {};
}

void RingSet::enable_records() noexcept {
  for (PerfRing& ring : rings_)
    if (!ring.has_ticks()) ring.enable();
}

void RingSet::enable() noexcept {
  for (PerfRing& ring : rings_) ring.enable();
}

void RingSet::disable() noexcept {
  for (PerfRing& ring : rings_) ring.disable();
}

void RingSet::collect() {
  pressed_ = false;
  for (size_t i = 0; i < rings_.size(); ++i) {
    double fullness = rings_[i].visit([&](const unsigned char* bytes, size_t length) {
      store(parse_perf_record(bytes, length, settings_.stack_bytes != 0 && rings_[i].has_ticks()),
            static_cast<uint16_t>(i));
    });
    pressed_ = pressed_ || fullness > kPressed;
  }
}

void RingSet::store(const PerfRecord& record, uint16_t ring) {
  if (record.kind == PerfRecord::Kind::kSample) {
    store_sample(record, ring);
  } else if (record.kind != PerfRecord::Kind::kOther) {
    events_.push_back({record, std::string(record.text), ring});
  }
}

void RingSet::store_sample(const PerfRecord& record, uint16_t ring) {
  Sample sample{record.time, record.pc, record.pid, record.kernel, true, 1, ring};
  sample.guest = record.guest;
  sample.tid = record.tid;
  sample.has_registers = record.has_registers;
  sample.without_user_mode = record.without_user_mode;
  std::copy(std::begin(record.registers), std::end(record.registers), sample.registers);
  sample.kernel_calls = words_of(record.kernel_calls);
  sample.stack = record.stack;
  sample.stack_cut_off = record.stack_cut_off;
  add(sample);
}

/// Stacks of samples that wait for the next turn are kept. Without memory for them those samples have no
/// stack, which their paths say.
void RingSet::release() {
  size_t words = 0;
  for (const Sample& sample : samples_)
    words +=
        sample.kernel_calls.size() + sample.stack_chunks.size() + (sample.stack.size() + kWord - 1) / kWord;
  const bool room = next_waiting_.resize(words);
  uint64_t* at = next_waiting_.data();
  for (Sample& sample : samples_) {
    if (!room) sample.kernel_calls = {}, sample.stack = {}, sample.stack_chunks = {};
    for (std::span<const uint64_t>* kept : {&sample.kernel_calls, &sample.stack_chunks}) {
      std::copy(kept->begin(), kept->end(), at);
      *kept = {at, kept->size()};
      at += kept->size();
    }
    const size_t bytes = sample.stack.size();
    std::copy(sample.stack.begin(), sample.stack.end(), reinterpret_cast<unsigned char*>(at));
    sample.stack = {reinterpret_cast<const unsigned char*>(at), bytes};
    at += (bytes + kWord - 1) / kWord;
  }
  for (PerfRing& ring : rings_) ring.release();
  if (waiting_.size() != 0) explicit_bzero(waiting_.data(), waiting_.size() * kWord);
  waiting_.clear();
  std::swap(waiting_, next_waiting_);
}

/// std::stable_sort would copy samples, and so registers, to the heap, which core dumps have.
void RingSet::sort() {
  std::sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  });
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Record& a, const Record& b) { return a.record.time < b.record.time; });
}

PerfCount RingSet::count() const noexcept {
  PerfCount sum;
  for (const PerfRing& ring : rings_) {
    PerfCount count = ring.count();
    sum.lost += count.lost;
    sum.value += count.value;
  }
  return sum;
}

std::vector<int> RingSet::descriptors() const {
  std::vector<int> descriptors;
  for (const PerfRing& ring : rings_) descriptors.push_back(ring.fd());
  return descriptors;
}

int RingSet::descriptor_after(int fd) const noexcept {
  int after = -1;
  for (size_t i = 0; i < rings_.size() && after < 0; ++i) after = rings_[i].fd_after(fd);
  return after;
}

}  // namespace pctally
