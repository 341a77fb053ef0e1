#include "tick/context.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

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
  auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto target = reinterpret_cast<uintptr_t>(page) + 64;
  struct sigaction action {
  }, old{};
  action.sa_sigaction = report_pc;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &old);
  const void* jump = reinterpret_cast<void*>(target);
#if defined(__powerpc64__) && (!defined(_CALL_ELF) || _CALL_ELF == 1)
  uintptr_t descriptor[3] = {target, 0, 0};  // what a function pointer points to there
  jump = descriptor;
#endif
  if (sigsetjmp(before_the_jump, 1) == 0) reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(jump))();
  sigaction(SIGSEGV, &old, nullptr);
  munmap(page, bytes);
  EXPECT_EQ(reported_pc, target);
}

}  // namespace
}  // namespace pctally
