#include "fault/sent_fault.h"

#include <gtest/gtest.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

namespace pctally {
namespace {

bool keep_one() {
  siginfo_t info;
  ucontext_t context;
  memset(&info, 0, sizeof info);
  memset(&context, 0, sizeof context);
  info.si_code = SI_USER;
  info.si_pid = getpid();
  info.si_uid = getuid();
  return keep_sent_fault(SIGSEGV, &info, &context);
}

volatile sig_atomic_t g_came;

void come(int) { g_came = g_came + 1; }

/// As where a tick comes in the midst of pctally_count().
TEST(SentFault, WaitsForTheEndOfTheOutermostHandler) {
  sigset_t before;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  signal(SIGSEGV, come);
  EXPECT_FALSE(keep_one()) << "none runs";
  begin_own_handler();
  begin_own_handler();
  EXPECT_TRUE(keep_one());
  end_own_handler();
  sigprocmask(SIG_SETMASK, &before, nullptr);  // what is sent again is blocked until then
  EXPECT_EQ(g_came, 0);
  EXPECT_TRUE(keep_one()) << "the other goes on";
  end_own_handler();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(g_came, 1);
  EXPECT_FALSE(keep_one());
  signal(SIGSEGV, SIG_DFL);
}

}  // namespace
}  // namespace pctally
