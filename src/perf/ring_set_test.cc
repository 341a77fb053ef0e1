#include "perf/ring_set.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "perf/record.h"
#include "perf/ring.h"

namespace pctally {
namespace {

constexpr int kPatienceMs = 20000;

/// A child that burns CPU time until it is killed, on the first CPU that it may use.
class Burner {
 public:
  Burner() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on_one_cpu();
    for (;;) asm volatile("");
  }
  Burner(const Burner&) = delete;
  Burner& operator=(const Burner&) = delete;
  ~Burner() { end(); }

  [[nodiscard]] pid_t pid() const { return pid_; }

  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  static void stay_on_one_cpu() {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }

  pid_t pid_;
};

/// At the end of a ring one record in a hundred goes on at its start.
TEST(PerfRingTest, RecordsThatWrapAreWhole) {
  cpu_set_t before, here;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof here, &here);
  PerfSettings settings;
  settings.samples = settings.at_exec = settings.build_ids = settings.lost_count = false;
  settings.ring_pages = 1;
  auto ring = PerfRing::open(PerfScope::task(0), sched_getcpu(), settings);
  char own[16];
  prctl(PR_GET_NAME, own);
  std::vector<std::string> given, read;
  if (ring) ring->enable();
  for (size_t i = 0; ring && i < 1000; ++i) {
    given.push_back(std::to_string(i) + std::string(i % 11, 'x'));
    prctl(PR_SET_NAME, given.back().c_str());
    ring->visit([&read](const unsigned char* bytes, size_t length) {
      const PerfRecord record = parse_perf_record(bytes, length);
      if (record.kind == PerfRecord::Kind::kComm) read.emplace_back(record.text);
    });
    ring->release();
  }
  prctl(PR_SET_NAME, own);
  sched_setaffinity(0, sizeof before, &before);
  if (!ring) GTEST_SKIP() << "perf events are not available here: " << ring.error().text;
  EXPECT_EQ(read, given);
}

/// The reader of a ring that several threads write into is woken for as long as one of them lives.
TEST(RingSetTest, WakesItsReaderAfterTheFirstThreadHasEnded) {
  Burner first, second;
  PerfSettings settings;
  settings.whole_machine = false;
  settings.period = 100000;
  settings.ring_pages = 1;
  RingSet rings;
  if (auto opened = rings.open(Target::running({first.pid(), second.pid()}), settings); !opened)
    GTEST_SKIP() << "perf events are not available here: " << opened.error().text;
  // Threads are opened in the order of their numbers.
  Burner& owner = first.pid() < second.pid() ? first : second;
  owner.end();
  std::vector<pollfd> watched;
  for (int fd : rings.descriptors()) watched.push_back({fd, POLLIN, 0});
  poll(watched.data(), watched.size(), 0);
  for (pollfd& entry : watched) {
    EXPECT_NE(entry.revents & POLLHUP, 0) << "the event of a thread that has ended";
    entry.fd = rings.descriptor_after(entry.fd);
    ASSERT_GE(entry.fd, 0);
    EXPECT_EQ(rings.descriptor_after(entry.fd), -1) << "there are two threads";
  }
  rings.collect();
  rings.replay(
      UINT64_MAX, [](const RingSet::Sample&) {}, [](const RingSet::Record&) {});
  EXPECT_GT(poll(watched.data(), watched.size(), kPatienceMs), 0) << "the other thread's ticks wake nobody";
  EXPECT_TRUE(std::ranges::any_of(watched, [](const pollfd& e) { return (e.revents & POLLIN) != 0; }));
}

}  // namespace
}  // namespace pctally
