// What the ladder says of an engine beside what the engine then does.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "histfile/fresh_file_for_test.h"
#include "recorder/engine/ring_engine.h"

namespace pctally {
namespace {

EngineProbe probe_of(const std::string& name) {
  std::vector<EngineProbe> ladder = probe_ladder();
  return *std::find_if(ladder.begin(), ladder.end(),
                       [&](const EngineProbe& probe) { return probe.name == name; });
}

/// A process that waits, as a command does before its exec.
class Held {
 public:
  Held() : pid_(fork()) {
    for (; pid_ == 0;) pause();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Ladder, HalfPeriodsAreMissedByEventsOfThreadsAlone) {
  for (bool kernel : {false, true}) {
    EXPECT_NE(ring_blindness(true, kernel).find("half a period"), std::string::npos);
    EXPECT_NE(ring_blindness(true, kernel).find("setuid"), std::string::npos);
    EXPECT_EQ(ring_blindness(false, kernel).find("half a period"), std::string::npos);
    EXPECT_EQ(ring_blindness(false, kernel).find("setuid"), std::string::npos);
    for (bool per_thread : {false, true})
      EXPECT_EQ(ring_blindness(per_thread, kernel).find("kernel mode") == std::string::npos, kernel);
  }
}

TEST(Ladder, WhatRingMissesIsWhatItsEngineMissesThen) {
  EngineProbe probe = probe_of("ring");
  if (!probe.available) GTEST_SKIP() << "engine ring is not available here: " << probe.reason;
  FreshFile fresh;
  Held command;
  Environment environment;
  RingEngine engine{EngineSettings{}};
  auto started = engine.start(&fresh.file(), Target::command(command.pid()), &environment);
  ASSERT_TRUE(started) << started.error().text;
  EXPECT_EQ(engine.blind_spots(), probe.misses);
}

TEST(Ladder, WithoutChildrenRingLooksAtThreadsWhateverIsPermitted) {
  EngineProbe probe = probe_of("ring");
  if (!probe.available) GTEST_SKIP() << "engine ring is not available here: " << probe.reason;
  FreshFile fresh;
  Held command;
  Environment environment;
  EngineSettings settings;
  settings.children = false;
  RingEngine engine(settings);
  auto started = engine.start(&fresh.file(), Target::command(command.pid()), &environment);
  ASSERT_TRUE(started) << started.error().text;
  EXPECT_NE(engine.blind_spots().find("half a period"), std::string::npos);
}

}  // namespace
}  // namespace pctally
