// The C API as a program uses it, through the shared library.
#include "pctally/pctally.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "pctally/bsd.h"
#include "recording_for_test.h"

namespace pctally {
namespace {

class Library : public RecordingTest {
 protected:
  void SetUp() override {
    RecordingTest::SetUp();
    options_.flags = PCTALLY_NO_TIMER;
  }
  static pctally_tick_ledger ledger() {
    pctally_tick_ledger result{};
    EXPECT_EQ(pctally_ledger(&result), 0);
    return result;
  }
};

const void* code_address() { return reinterpret_cast<const void*>(&getpid); }

TEST_F(Library, TicksByHandAreCountedWhereTheyWere) {
  ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
  EXPECT_STREQ(pctally_engine(), "manual");
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(pctally_count(code_address(), 3), 0);
  ASSERT_EQ(pctally_stop(), 0);
  EXPECT_EQ(ledger().counted, 3000u);
  EXPECT_EQ(ledger().ticks, 3000u);
  EXPECT_EQ(ledger().samples, 1000u);
  Profile profile = load();
  EXPECT_TRUE(profile.closed);
  ASSERT_EQ(profile.positions.size(), 1u);
  EXPECT_EQ(profile.positions[0].ticks, 3000u);
  EXPECT_NE(profile.executables[profile.positions[0].executable].path.find("libc"), std::string::npos);
}

TEST_F(Library, APcThatIsNoCodeIsOutside) {
  int data = 0;
  ASSERT_EQ(pctally_start(&options_), 0);
  EXPECT_EQ(pctally_count(&data, 1), 0);
  EXPECT_EQ(pctally_count(nullptr, 2), 0);
  EXPECT_EQ(pctally_count(reinterpret_cast<void*>(~uintptr_t{0}), 4), 0);
  EXPECT_EQ(ledger().outside, 7u);
  pctally_stop();
  EXPECT_EQ(ledger().outside, 7u);
  EXPECT_EQ(load().ledger.outside, 7u);
}

TEST_F(Library, CodeMadeLaterIsCountedWithAndWithoutRefresh) {
  ASSERT_EQ(pctally_start(&options_), 0);
  void* code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(pctally_count(code, 1), 0);
  EXPECT_EQ(ledger().counted, 1u);
  EXPECT_EQ(pctally_refresh(), 0);
  ASSERT_EQ(pctally_count(code, 1), 0);
  EXPECT_EQ(ledger().counted, 2u);
  munmap(code, 4096);
}

TEST_F(Library, TrapIfAskedForAndTheFileSaysSo) {
  options_.flags = PCTALLY_FIXED_PERIOD;
  options_.engine = "trap";
  if (pctally_start(&options_) != 0) {
    EXPECT_NE(errno, EINVAL);
    GTEST_SKIP() << pctally_error();
  }
  EXPECT_STREQ(pctally_engine(), "trap");
  timespec now{};
  do {
    for (unsigned i = 0; i < 100000; ++i) __asm__ volatile("" ::"r"(i));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (ledger().ticks < 200 && now.tv_sec < 60);
  ASSERT_EQ(pctally_stop(), 0);
  Profile profile = load();
  EXPECT_EQ(profile.engine, "trap");
  EXPECT_EQ(profile.processes.at(0).engine, "trap");
  EXPECT_EQ(profile.clock_tick_ns, 0u);
  EXPECT_FALSE(profile.kernel_observed);
  EXPECT_EQ(profile.ledger.samples, profile.ledger.ticks()) << "no weights";
}

TEST_F(Library, TheEnvironmentIsAPreferenceAndTheOptionAnOrder) {
  options_.flags = 0;
  options_.engine = "steam";
  EXPECT_EQ(pctally_start(&options_), -1);
  EXPECT_EQ(errno, EINVAL);
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &trap, nullptr);  // so that the trap does not work
  options_.engine = "trap";
  EXPECT_EQ(pctally_start(&options_), -1);
  EXPECT_FALSE(std::filesystem::exists(path_));
  options_.engine = nullptr;
  setenv("PCTALLY_ENGINE", "trap", 1);
  EXPECT_EQ(pctally_start(&options_), 0) << pctally_error();
  unsetenv("PCTALLY_ENGINE");
  pthread_sigmask(SIG_UNBLOCK, &trap, nullptr);
  EXPECT_STREQ(pctally_engine(), "timer");
}

TEST_F(Library, ErrorsSayWhatToDo) {
  EXPECT_EQ(pctally_stop(), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_EQ(pctally_count(code_address(), 1), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_EQ(pctally_refresh(), -1);
  EXPECT_EQ(errno, ESRCH);
  pctally_options wrong = options_;
  wrong.size = 3;
  EXPECT_EQ(pctally_start(&wrong), -1);
  EXPECT_EQ(errno, EINVAL);
  wrong = options_;
  wrong.flags = 1u << 30;
  EXPECT_EQ(pctally_start(&wrong), -1);
  EXPECT_EQ(errno, EINVAL);
  wrong = options_;
  wrong.period_ns = 1;
  EXPECT_EQ(pctally_start(&wrong), -1);
  EXPECT_EQ(errno, EINVAL);
  wrong.period_ns = 40000;
  wrong.flags = 0;
  wrong.engine = "trap";
  EXPECT_EQ(pctally_start(&wrong), -1);
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(pctally_start(&options_), 0);
  EXPECT_EQ(pctally_start(&options_), -1);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(pctally_count(code_address(), 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_ledger(nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_STRNE(pctally_error(), "");
}

TEST_F(Library, ExistingFileIsKeptUnlessToldOtherwise) {
  std::ofstream(path_) << "precious";
  for (unsigned flag : {0u, unsigned{PCTALLY_OVERWRITE}}) {  // what is no profile is never replaced
    options_.flags |= flag;
    EXPECT_EQ(pctally_start(&options_), -1);
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(std::filesystem::file_size(path_), 8u);
  }
  std::filesystem::remove(path_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(pctally_start(&options_), 0) << pctally_error();
    EXPECT_EQ(pctally_stop(), 0) << pctally_error();
  }
}

TEST_F(Library, AFileBeyondUlimitFIsAnErrorAndNotTheEnd) {
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {1024, 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    bool refused = pctally_start(&options_) == -1 && errno == EFBIG &&
                   strstr(pctally_error(), "ulimit -f") != nullptr && !std::filesystem::exists(path_);
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);  // a signal, SIGXFSZ, is in its lower bits
}

TEST_F(Library, AFileThatSomebodyCutsIsAnErrorAtTheEnd) {
  options_.flags |= PCTALLY_OVERWRITE;
  for (unsigned flags : {PCTALLY_OVERWRITE | PCTALLY_NO_TIMER, PCTALLY_OVERWRITE | 0}) {
    options_.flags = flags;
    ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
    EXPECT_EQ(pctally_count(code_address(), 1), 0);
    ASSERT_EQ(truncate(path_.c_str(), 0), 0);
    EXPECT_EQ(pctally_count(code_address(), 1), 0);
    volatile uint64_t work = 0;
    for (uint64_t i = 0; i < 30000000; ++i) work = work + i;
    EXPECT_EQ(pctally_refresh(), 0);
    if ((flags & PCTALLY_NO_TIMER) != 0)
      EXPECT_EQ(ledger().ticks, 0u);
    else
      EXPECT_LE(ledger().samples, 1u)
          << "the timer's tick that met the cut ends in memory, later ones are ignored";
    EXPECT_EQ(pctally_stop(), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(std::filesystem::file_size(path_), 0u);
  }
  ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
  EXPECT_EQ(pctally_count(code_address(), 1), 0);
  EXPECT_EQ(pctally_stop(), 0) << "the next file is as any";
}

/// Closes what it does not know, as closefrom(3) does, and makes those numbers files of its own.
void take_all_numbers(int with) {
  for (int fd = STDERR_FILENO + 1; fd < with; ++fd) dup2(with, fd);
}

/// Whether they are all still that file.
bool has_all_numbers(int with) {
  struct stat mine {
  }, other{};
  fstat(with, &mine);
  for (int fd = STDERR_FILENO + 1; fd < with; ++fd)
    if (fstat(fd, &other) != 0 || other.st_ino != mine.st_ino) return false;
  return true;
}

/// The program as a process of its own, for it takes descriptors that are not its own; and a child that it
/// forks. `exits`: it ends without pctally_stop(). 0: all is well.
int takes_the_descriptor(pctally_options* options, const std::string& database, bool exits) {
  constexpr int kOwn = 100;
  constexpr off_t kBytes = 16 << 20;
  if (pctally_start(options) != 0) return 1;
  pctally_count(code_address(), 5);
  const int opened = open(database.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (ftruncate(opened, kBytes) != 0 || dup2(opened, kOwn) != kOwn) return 2;
  take_all_numbers(kOwn);
  const pid_t child = fork();
  if (child == 0) _exit(has_all_numbers(kOwn) ? 0 : 1);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 3;
  pctally_count(code_address(), 5);
  if (exits) exit(0);
  if (pctally_stop() != -1 || errno != EBADF) return 4;
  return has_all_numbers(kOwn) ? 0 : 5;
}

TEST_F(Library, ADescriptorThatTheProgramHasTakenIsNeitherCutNorClosed) {
  const std::string database = directory_ + "/database";
  options_.flags |= PCTALLY_OVERWRITE;
  for (const bool exits : {false, true}) {
    const pid_t child = fork();
    if (child == 0) _exit(takes_the_descriptor(&options_, database, exits));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "case " << WEXITSTATUS(status);
    EXPECT_EQ(std::filesystem::file_size(database), 16u << 20);
    const Profile profile = load();
    EXPECT_TRUE(profile.closed);
    EXPECT_EQ(profile.ledger.counted, 10u);
  }
}

TEST_F(Library, TimerCountsAllThreadsAlsoOlderOnes) {
  options_.flags = 0;
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> work = 0;
  auto spin = [&] {
    while (!stop) ++work;
  };
  std::thread older(spin);
  ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
  EXPECT_STREQ(pctally_engine(), "timer");
  std::thread younger(spin);
  timespec start{}, now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  do {
    usleep(5000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 - start.tv_sec * 1000 - start.tv_nsec / 1000000 < 600);
  ASSERT_EQ(pctally_stop(), 0);
  stop = true;
  older.join();
  younger.join();
  Profile profile = load();
  double sampled = static_cast<double>(profile.ledger.ticks() * profile.period_ns);
  double cpu = static_cast<double>(profile.cpu_user_ns + profile.cpu_system_ns);
  EXPECT_NEAR(sampled / cpu, 1, 0.05);
}

TEST_F(Library, NoTickAfterStop) {
  options_.flags = 0;
  ASSERT_EQ(pctally_start(&options_), 0);
  ASSERT_EQ(pctally_stop(), 0);
  pctally_tick_ledger before = ledger();
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 30000000; ++i) sum = sum + i;
  EXPECT_EQ(ledger().ticks, before.ticks);
}

TEST_F(Library, TheParentAloneIsRecordedAfterFork) {
  ASSERT_EQ(pctally_start(&options_), 0);
  pid_t child = fork();
  if (child == 0) _exit(pctally_count(code_address(), 1) == -1 && errno == ESRCH ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pctally_count(code_address(), 1), 0);
  EXPECT_EQ(ledger().counted, 1u);
}

TEST_F(Library, AChildThatForkHasNotMadeExitsAndTheRecordingGoesOn) {
  options_.flags = PCTALLY_NO_TIMER;
  ASSERT_EQ(pctally_start(&options_), 0);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(pctally_count(code_address(), 1), 0);
  EXPECT_EQ(pctally_stop(), 0) << pctally_error();
  EXPECT_EQ(load().ledger.counted, 1u);
}

void* works_for_a_while(void* unused) {
  timespec used{};
  for (volatile uint64_t work = 0; used.tv_nsec < 200000000; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used))
    for (int i = 0; i < 100000; ++i) work = work + 1;
  return unused;
}

TEST_F(Library, AThreadOfSuchAChildIsNotCountedForTheParent) {
  options_.flags = 0;
  ASSERT_EQ(pctally_start(&options_), 0);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, works_for_a_while, nullptr) != 0) _exit(1);
    pthread_join(thread, nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_LT(ledger().ticks, 100u) << "the parent has only waited";
}

TEST_F(Library, AProcessThatExitsOrIsKilledLeavesAReadableFile) {
  for (bool killed : {false, true}) {
    options_.flags = PCTALLY_NO_TIMER | PCTALLY_OVERWRITE;
    pid_t child = fork();
    if (child == 0) {
      if (pctally_start(&options_) != 0) _exit(1);
      for (int i = 0; i < 100; ++i) pctally_count(code_address(), 1);
      if (killed) kill(getpid(), SIGKILL);
      exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Profile profile = load();
    EXPECT_EQ(profile.closed, !killed);
    EXPECT_EQ(profile.ledger.counted, 100u);
  }
}

/// Blocked, a fault of a tick ends the process: the mask is opened for the tick, and no longer.
TEST_F(Library, ATickByHandLeavesTheMaskAndWhatWaitsInIt) {
  static uint16_t cells[32];
  sigset_t faults, before, now;
  sigemptyset(&faults);
  sigaddset(&faults, SIGBUS);
  sigaddset(&faults, SIGSEGV);
  setenv("PCTALLY_ENGINE", "manual", 1);
  ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
  pctally_bsd_profil(reinterpret_cast<char*>(cells), sizeof cells, reinterpret_cast<size_t>(code_address()),
                     0x10000);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &faults, &before), 0);
  raise(SIGBUS);
  EXPECT_EQ(pctally_count(code_address(), 1), 0);
  sigprocmask(SIG_SETMASK, nullptr, &now);
  EXPECT_TRUE(sigismember(&now, SIGBUS) == 1 && sigismember(&now, SIGSEGV) == 1);
  EXPECT_EQ(sigismember(&now, SIGALRM), sigismember(&before, SIGALRM));
  const timespec at_once{};
  siginfo_t info{};
  EXPECT_EQ(sigtimedwait(&faults, &info, &at_once), SIGBUS);
  EXPECT_EQ(info.si_pid, getpid());
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(cells[0], 1);
  pctally_bsd_profil(nullptr, 0, 0, 0);
  unsetenv("PCTALLY_ENGINE");
}

TEST_F(Library, StartAndStopMayBeRepeated) {
  options_.flags |= PCTALLY_OVERWRITE;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(pctally_start(&options_), 0) << pctally_error();
    ASSERT_EQ(pctally_count(code_address(), 1), 0);
    ASSERT_EQ(pctally_stop(), 0);
    EXPECT_EQ(ledger().counted, 1u);
  }
}

}  // namespace
}  // namespace pctally
