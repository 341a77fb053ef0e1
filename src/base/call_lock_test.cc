#include "base/call_lock.h"

#include <gtest/gtest.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hidden_signals.h"

namespace pctally {
namespace {

uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

/// As the kernel has it: the C library leaves its own out of a sigset_t.
uint64_t blocked() {
  unsigned long long mask = 0;
  char line[128];
  FILE* status = fopen("/proc/thread-self/status", "r");
  while (status != nullptr && fgets(line, sizeof line, status) != nullptr)
    if (sscanf(line, "SigBlk: %llx", &mask) == 1) break;
  if (status != nullptr) fclose(status);
  return mask;
}

sigset_t one(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

TEST(CallLock, SignalsThatAreSentWaitAndFaultsAndTheCLibrarysOwnDoNot) {
  const uint64_t before = blocked();
  {
    const SignalsWait wait;
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
      EXPECT_NE(blocked() & bit(signal), 0u) << signal;
    for (const int signal : {SIGTERM, SIGALRM, SIGUSR1}) EXPECT_NE(blocked() & bit(signal), 0u) << signal;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, 32, 33})
      EXPECT_EQ(blocked() & bit(signal), before & bit(signal)) << signal;
  }
  EXPECT_EQ(blocked(), before);
}

TEST(CallLock, OurTicksDoNotWait) {
  hide_signal(SIGRTMAX - 1);
  {
    const SignalsWait wait;
    EXPECT_EQ(blocked() & bit(SIGRTMAX - 1), 0u);
    EXPECT_NE(blocked() & bit(SIGRTMAX), 0u);
  }
  reveal_signals();
  EXPECT_EQ(hidden_signals(), 0u);
}

TEST(CallLock, WhatTheProgramHasBlockedIsKnown) {
  const sigset_t own = one(SIGRTMIN + 3);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &own, nullptr), 0);
  const uint64_t before = blocked();
  {
    const SignalsWait wait;
    const SignalsWait inner;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGRTMAX), 1);
    SignalsWait::leave_out_waiting(&mask);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
      EXPECT_EQ(sigismember(&mask, signal), (before & bit(signal)) != 0 ? 1 : 0) << signal;
    EXPECT_EQ(sigismember(&mask, SIGTERM), (before & bit(SIGTERM)) != 0 ? 1 : 0);
  }
  EXPECT_EQ(blocked(), before) << "it blocks on";
  sigset_t mask;
  sigfillset(&mask);
  SignalsWait::leave_out_waiting(&mask);
  EXPECT_EQ(sigismember(&mask, SIGRTMAX), 1) << "none of it is ours now";
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

}  // namespace
}  // namespace pctally
