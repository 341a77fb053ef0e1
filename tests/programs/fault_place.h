/* Where a signal came, for programs that say so. */
#pragma once
#include <stdint.h>
#include <ucontext.h>

/* 0 on a machine it does not know. */
static inline uintptr_t pc_of(const void* context) {
#if defined(__x86_64__)
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}
