#include "object/worker/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace pctally {
namespace {

class Confinement : public testing::Test {
 protected:
  void SetUp() override {
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) GTEST_SKIP() << "this kernel, or emulator, filters no calls";
  }
};

/// Whether a confined process finds `refused` to be true.
bool confined(const std::function<bool()>& refused) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t child = fork();
  if (child == 0) _exit(!confine(ends[1]) ? 2 : refused() ? 0 : 1);
  close(ends[0]), close(ends[1]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_NE(status, 2 << 8) << "the process could not be confined";
  return status == 0;
}

TEST_F(Confinement, OpensNothing) {
  EXPECT_TRUE(confined([] { return open("/etc/passwd", O_RDONLY) < 0; }));
  EXPECT_TRUE(confined([] { return write(1, "", 0) < 0; })) << "not even what was open";
}

TEST_F(Confinement, StartsAndSignalsNothing) {
  const pid_t test = getpid();
  EXPECT_TRUE(confined([] { return fork() < 0; }));
  EXPECT_TRUE(confined([test] { return kill(test, 0) < 0; }));
  EXPECT_TRUE(confined([] { return execl("/bin/true", "true", nullptr) < 0; }));
}

TEST_F(Confinement, ConnectsToNothing) {
  EXPECT_TRUE(confined([] { return socket(AF_INET, SOCK_STREAM, 0) < 0; }));
}

TEST_F(Confinement, MakesNoCode) {
  EXPECT_TRUE(confined([] {
    return mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
           mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  }));
}

TEST_F(Confinement, HasNoUsersRights) {
  if (geteuid() != 0) GTEST_SKIP() << "has none to give up";
  EXPECT_TRUE(confined([] { return geteuid() == 65534; }));
}

TEST_F(Confinement, ComputesAndUsesMemory) {
  EXPECT_TRUE(confined([] {
    std::string text(64 << 20, 'a');
    return text[1 << 20] == 'a';
  }));
}

}  // namespace
}  // namespace pctally
