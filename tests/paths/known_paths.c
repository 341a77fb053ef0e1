/* Spins for a while under each of a few known call paths: known_paths CASE[,CASE...]|all SECONDS. Built
 * without frame pointers. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "busy.h"
#include "known_code.h"

static double seconds = 0.3;

static KEPT void work(void) {
  double value = 1;
  for (int i = 0; i < 30000; i++) value = value * 1.0000001 + i;
  sink = value;
}

#define SPIN(statement)                                        \
  for (double end = cpu_time() + seconds; cpu_time() < end;) { \
    for (int turn = 0; turn < 20; turn++) {                    \
      statement;                                               \
    }                                                          \
  }

KEPT void plain(void) { SPIN(work()); }

KEPT int deep(int depth) {
  if (depth == 0) {
    work();
    return 1;
  }
  return deep(depth - 1) + 1;
}
KEPT void recursion(void) { SPIN(sink = deep(60)); }
/* 24 KiB of stack in few frames. */
KEPT int in_large_frame(int depth) {
  volatile char memory[1024];
  memory[depth] = (char)depth;
  if (depth == 0) work();
  return (depth == 0 ? 1 : in_large_frame(depth - 1)) + memory[depth];
}
KEPT void large_frames(void) { SPIN(sink = in_large_frame(23)); }
KEPT void nine_hundred(void) { SPIN(sink = in_large_frame(899)); }
/* More than 256 KiB of locals. */
KEPT void in_huge_frame(void) {
  volatile char memory[300 << 10];
  for (size_t i = 0; i < sizeof memory; i += 4096) memory[i] = 1; /* else a copy of the stack ends there */
  work();
  sink = memory[0];
}
KEPT void huge_frame(void) { SPIN(in_huge_frame()); }
KEPT void half_deep(void) { SPIN(turn < 10 ? (void)(sink = deep(400)) : work()); }
KEPT void very_deep(void) { SPIN(sink = deep(10000)); }

KEPT void varying_frame(int bytes) {
  char* memory = alloca((size_t)bytes * 16 + 16);
  memset(memory, bytes, (size_t)bytes * 16 + 16);
  work();
  sink = memory[bytes];
}
KEPT void allocating(void) { SPIN(varying_frame(turn)); }

WITH_LARGE_VECTORS KEPT void realigned_frame(int bytes) {
  typedef double vector __attribute__((vector_size(32)));
  volatile vector values[4];
  char* memory = alloca((size_t)bytes * 16 + 16);
  memory[bytes] = (char)bytes;
  for (int i = 0; i < 4; i++) values[i] = (vector){bytes, 0, 0, 0};
  work();
  sink = values[1][0] + memory[bytes];
}
KEPT void realigned(void) { SPIN(realigned_frame(turn)); }

/* The kernel's code in the program's memory. */
KEPT void in_vdso(void) {
  struct timespec now;
  SPIN(for (int i = 0; i < 2000; i++) clock_gettime(CLOCK_MONOTONIC, &now); sink = (double)now.tv_nsec)
}

KEPT void tail_call(void) { SPIN(tail_caller(work)); }

static inline __attribute__((always_inline)) void inlined(void) {
  work();
  sink = 2 * sink;
}
KEPT void inlining(void) { SPIN(inlined()); }

static int compare(const void* a, const void* b) {
  work();
  return *(const int*)a - *(const int*)b;
}
KEPT void sorting(void) {
  int numbers[8];
  SPIN(for (int i = 0; i < 8; i++) numbers[i] = (i * 5) % 8; qsort(numbers, 8, sizeof numbers[0], compare));
}

static void handler(int number) {
  (void)number;
  work();
}
KEPT void in_handler(void) {
  signal(SIGUSR1, handler);
  SPIN(raise(SIGUSR1));
}

/* The handler runs on a stack of its own. What it interrupts is this function and nothing below it. */
KEPT void interrupted(void) {
  const long result = TKILL_HERE(gettid(), SIGUSR2);
  sink = (double)result;
}
static void other_handler(int number) {
  (void)number;
  work();
  sink++;
}
static KEPT void with_stack_at(void* stack, size_t bytes) {
  stack_t other = {.ss_sp = stack, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
  struct sigaction action = {.sa_handler = other_handler, .sa_flags = SA_ONSTACK};
  if (sigaltstack(&other, NULL) != 0 || sigaction(SIGUSR2, &action, NULL) != 0) exit(1);
  SPIN(interrupted());
  sigaltstack(&none, NULL);
}
enum { kOtherStack = 64 << 10 };
static char other_stack[kOtherStack];
KEPT void on_stack_below(void) { with_stack_at(other_stack, sizeof other_stack); }

/* Of a thread, whose stack lies below the other one. */
static void* below_other_stack(void* other) {
  with_stack_at(other, kOtherStack);
  return NULL;
}
KEPT void on_stack_above(void) {
  enum { kOwn = 256 << 10, kApart = 8 << 20 };
  char* memory =
      mmap(NULL, kOwn + kApart + kOtherStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attributes;
  pthread_t thread;
  if (memory == MAP_FAILED || mprotect(memory + kOwn, kApart, PROT_NONE) != 0) exit(1);
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, memory, kOwn);
  if (pthread_create(&thread, &attributes, below_other_stack, memory + kOwn + kApart) != 0) exit(1);
  pthread_join(thread, NULL);
}

static void* thread_body(void* argument) {
  SPIN(work());
  return argument;
}
KEPT void in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, thread_body, NULL);
  pthread_join(thread, NULL);
}

static void* static_stack_body(void) {
  SPIN(work());
  return NULL;
}
static ucontext_t coroutine_context, main_context;
static char coroutine_stack[1 << 16];
static void coroutine_body(void) { static_stack_body(); }
KEPT void in_coroutine(void) {
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = coroutine_stack;
  coroutine_context.uc_stack.ss_size = sizeof coroutine_stack;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, coroutine_body, 0);
  swapcontext(&main_context, &coroutine_context);
}

KEPT void while_blocked(void) { SPIN(work()); }
static void astray(void) { SPIN(with_wrong_rule(work)); }
/* A walk meets memory that is not there, and the thread blocks the signals that say so. */
KEPT void blocking_faults(void) {
  enum { kStack = 24 << 10, kGap = 64 << 10 };
  sigset_t faults;
  char* stack = mmap(NULL, kStack + kGap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack + kStack, kGap, PROT_NONE) != 0) exit(1);
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigaddset(&faults, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &faults, NULL);
  while_blocked();
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = kStack;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, astray, 0);
  swapcontext(&main_context, &coroutine_context);
  pthread_sigmask(SIG_BLOCK, NULL, &faults);
  if (!sigismember(&faults, SIGSEGV) || !sigismember(&faults, SIGBUS)) exit(1);
}

KEPT void no_table(void) { SPIN(without_table(work)); }

KEPT void frame_pointer(void) { SPIN(with_frame_pointer(work)); }

#if HAS_GOROUTINES
KEPT void bare_stubs(void) { SPIN(for (int i = 0; i < 2000; i++) bare_stub();) }
KEPT void goroutines(void) { SPIN(on_goroutine(work, other_stack + sizeof other_stack)); }
#endif

/* Calls a stub of the PLT. */
KEPT void stubs(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  FIND_LOCK_STUB();
  SPIN(for (int i = 0; i < 2000; i++) {
    LOCK_BY_STUB(&mutex, i);
    pthread_mutex_unlock(&mutex);
  })
}

KEPT void one_of_two(void) { SPIN(second_symbol(100000)); }
KEPT void both_of_two(void) { SPIN(first_symbol(50000); second_symbol(100000)); }

/* More paths than a small tree has nodes for: nearly every sample has one of its own. */
static _Thread_local unsigned draws = 1;
KEPT int left(int depth);
KEPT int right(int depth);
static KEPT int turning(int depth) {
  if (depth == 0) work();
  draws = draws * 1103515245 + 12345;
  return depth == 0 ? 1 : (draws >> 16 & 1 ? left : right)(depth - 1) + 1;
}
KEPT int left(int depth) { return turning(depth) + 1; }
KEPT int right(int depth) { return turning(depth) - 1; }
static void* turning_thread(void* argument) {
  draws = (unsigned)(size_t)argument;
  SPIN(sink = turning(50));
  return NULL;
}
KEPT void many_paths(void) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, turning_thread, (void*)(i + 1));
  for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

KEPT void in_kernel(void) { SPIN(for (int i = 0; i < 2000; i++) sink = (double)getppid()); }

/* 16 KiB of a pattern that no other memory has: two words in turn. */
KEPT void filled(void) {
  enum { kWords = 2048 };
  volatile uint64_t words[kWords];
  for (int i = 0; i < kWords; i += 2) {
    words[i] = 0x9d5f3c1b7e8a2461;
    words[i + 1] = ~words[i] + 12345;
  }
  SPIN(work());
  sink = (double)words[kWords / 2];
}

/* "a,b" names a and b. */
static int is_named(const char* names, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = names; *at != 0; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == length && strncmp(at, name, length) == 0) return 1;
  return 0;
}

int main(int count, char** words) {
  struct {
    const char* name;
    void (*run)(void);
  } const cases[] = {
    {"plain", plain},
    {"recursion", recursion},
    {"very_deep", very_deep},
    {"half_deep", half_deep},
    {"allocating", allocating},
    {"realigned", realigned},
    {"sorting", sorting},
    {"in_handler", in_handler},
    {"on_stack_below", on_stack_below},
    {"on_stack_above", on_stack_above},
    {"in_thread", in_thread},
    {"in_coroutine", in_coroutine},
    {"no_table", no_table},
    {"frame_pointer", frame_pointer},
#if HAS_GOROUTINES
    {"goroutines", goroutines},
    {"bare_stubs", bare_stubs},
#endif
    {"in_kernel", in_kernel},
    {"stubs", stubs},
    {"one_of_two", one_of_two},
    {"both_of_two", both_of_two},
    {"many_paths", many_paths},
    {"large_frames", large_frames},
    {"nine_hundred", nine_hundred},
    {"huge_frame", huge_frame},
    {"in_vdso", in_vdso},
    {"tail_call", tail_call},
    {"inlining", inlining},
    {"filled", filled},
    {"blocking_faults", blocking_faults}
  };
  if (count > 2) seconds = atof(words[2]);
  for (size_t i = 0; count > 1 && i < sizeof cases / sizeof cases[0]; i++)
    if (is_named(words[1], cases[i].name) || strcmp(words[1], "all") == 0) cases[i].run();
  return 0;
}
