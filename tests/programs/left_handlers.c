/* left_handlers TIMES: faults so many times. The handler, on an alternate stack of 8,192 bytes (SIGSTKSZ), is
 * left by a long jump, without a word to the kernel, as OCaml leaves it where a stack has overflowed. Works
 * between the faults, and prints how many came, and how many of them where the handler saw code that is not
 * the program's. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fault_place.h"
#include "spin.h"

extern char __executable_start, etext;

static jmp_buf before;
static volatile sig_atomic_t came, foreign;

static void on_fault(int signal, siginfo_t* info, void* context) {
  const uintptr_t pc = pc_of(context);
  (void)signal;
  (void)info;
  if (pc != 0 && (pc < (uintptr_t)&__executable_start || pc >= (uintptr_t)&etext)) foreign++;
  came++;
  _longjmp(before, 1);
}

__attribute__((noinline)) static uint64_t work(void) {
  const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  uint64_t value = 1;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < 20000000) value = turn(10000, value);
  return value;
}

int main(int count, char** words) {
  static volatile int left;
  static volatile uint64_t value;
  if (count != 2) return 2;
  char* memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t stack = {.ss_sp = memory, .ss_size = 8192};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if (memory == MAP_FAILED || none == MAP_FAILED || sigaltstack(&stack, NULL) != 0) return 1;
  sigaction(SIGSEGV, &action, NULL);
  for (left = atoi(words[1]); left > 0; left--) {
    value += work();
    if (_setjmp(before) == 0) none[left] = 1;
  }
  printf("%d %d\n", (int)came, (int)foreign);
  return value == 42;
}
