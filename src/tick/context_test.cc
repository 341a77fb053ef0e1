#include "tick/context.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

namespace pctally {
namespace {

sigjmp_buf before_the_jump;
uint64_t reported_pc;

void report_pc(int, siginfo_t*, void* context) {
  reported_pc = interrupted_pc(context);
  siglongjmp(before_the_jump, 1);
}

// A jump to a page that cannot be executed is interrupted exactly there, on every machine.
TEST(Context, TellsTheInterruptedProgramCounter) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__) && !defined(__riscv)
  GTEST_SKIP() << "interrupted_pc does not know this machine";
#endif
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto target = reinterpret_cast<uintptr_t>(page) + 64;
  struct sigaction action {
  }, old{};
  action.sa_sigaction = report_pc;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &old);
  if (sigsetjmp(before_the_jump, 1) == 0) reinterpret_cast<void (*)()>(target)();
  sigaction(SIGSEGV, &old, nullptr);
  munmap(page, 4096);
  EXPECT_EQ(reported_pc, target);
}

}  // namespace
}  // namespace pctally
