#include "tick/context.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
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

TEST(Context, KnowsTheEndOfTheAlternateStack) {
  unsigned char memory[16384];
  ucontext_t context{};
  const auto start = reinterpret_cast<uint64_t>(memory) + 8192;
  context.uc_stack = {memory + 8192, 0, 8192};
  EXPECT_TRUE(is_near_end_of_stack(&context, start, 4096));
  EXPECT_TRUE(is_near_end_of_stack(&context, start + 4095, 4096));
  EXPECT_TRUE(is_near_end_of_stack(&context, start - 1000, 4096)) << "the handler has left it already";
  EXPECT_FALSE(is_near_end_of_stack(&context, start + 4096, 4096));
  EXPECT_FALSE(is_near_end_of_stack(&context, start - 8193, 4096)) << "that is another stack";
  context.uc_stack.ss_flags = SS_DISABLE;
  EXPECT_FALSE(is_near_end_of_stack(&context, start, 4096));
}

#if defined(__x86_64__)

uint64_t reported_bytes;

/// FXSAVE's 512 bytes and the header behind them are the least; AT_MINSIGSTKSZ counts all that may come.
TEST(Context, TellsTheExtendedStateOfAFrame) {
  struct sigaction action {
  }, old{};
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    reported_bytes = extended_state_bytes(context);
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &action, &old);
  raise(SIGUSR2);
  sigaction(SIGUSR2, &old, nullptr);
  EXPECT_GE(reported_bytes, 576u);
  const uint64_t least = getauxval(AT_MINSIGSTKSZ);
  EXPECT_LT(reported_bytes, least == 0 ? UINT64_MAX : least);
  ucontext_t context{};
  EXPECT_EQ(extended_state_bytes(&context), 0u);
}

#endif

uint64_t seen_pc, below_pc, first_pc;

void first_handler(int, siginfo_t*, void* context) { first_pc = interrupted_pc(context); }

void second_handler(int, siginfo_t*, void* context) {
  seen_pc = interrupted_pc(context);
  below_pc = interrupted_pc(context_below_new_frames(context));
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal, &action, nullptr);
}

// The lower of two pending signals gets its frame first, and the other's handler interrupts
// its first instruction.
TEST(Context, ATickThatWaitedWithAnotherSignalIsNotItsHandlers) {
#ifdef PCTALLY_SANITIZED
  GTEST_SKIP() << "the thread sanitizer delivers signals itself, later";
#endif
  const int first = SIGRTMAX - 5, second = SIGRTMAX - 4;
  install(first, first_handler);
  install(second, second_handler);
  sigset_t both, before;
  sigemptyset(&both);
  sigaddset(&both, first);
  sigaddset(&both, second);
  pthread_sigmask(SIG_BLOCK, &both, &before);
  raise(first);
  raise(second);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const auto handler = reinterpret_cast<uint64_t>(first_handler);
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(seen_pc, handler);
  EXPECT_EQ(below_pc, first_pc);
#endif
  EXPECT_NE(first_pc, handler);
}

}  // namespace
}  // namespace pctally
