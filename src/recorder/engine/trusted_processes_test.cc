#include "recorder/engine/trusted_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pctally {
namespace {

/// A process that waits to be killed, below this one; with `user` != 0 as that user.
class Sleeper {
 public:
  explicit Sleeper(uid_t user = 0) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (user != 0 && setresuid(user, user, user) != 0) _exit(1);
      (void)!write(ready[1], "x", 1);
      for (;;) pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

constexpr uid_t kNobody = 65534;

TEST(TrustedProcesses, NeverTheRecorderNorNoProcess) {
  TrustedProcesses trusted(getpid());
  trusted.refresh();
  for (pid_t pid : {getpid(), 0, -1}) EXPECT_FALSE(trusted.holds(pid));
}

TEST(TrustedProcesses, APrivilegedRecorderTrustsItsTreeAlone) {
  Sleeper target;
  TrustedProcesses trusted(target.pid());
  trusted.refresh();
  EXPECT_TRUE(trusted.holds(target.pid()));
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_FALSE(trusted.holds(1)) << "in no tree but its own";
  EXPECT_FALSE(trusted.holds(getppid()));
}

TEST(TrustedProcesses, APrivilegedRecorderTrustsNobodyOnceOneOfTheTreeHasAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Sleeper target;
  TrustedProcesses trusted(getpid());
  trusted.refresh();
  EXPECT_TRUE(trusted.holds(target.pid()));
  {
    Sleeper dropped(kNobody);
    trusted.refresh();
    EXPECT_FALSE(trusted.holds(target.pid()));
  }
  trusted.refresh();
  EXPECT_FALSE(trusted.holds(target.pid())) << "what it claimed may still lie in the file";
}

}  // namespace
}  // namespace pctally
