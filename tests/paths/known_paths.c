/* Spins for a while under each of a few known call paths: known_paths CASE SECONDS. Built without frame
 * pointers. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static double seconds = 0.3;
volatile double sink;

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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
KEPT void very_deep(void) { SPIN(sink = deep(10000)); }

KEPT void varying_frame(int bytes) {
  char* memory = alloca((size_t)bytes * 16 + 16);
  memset(memory, bytes, (size_t)bytes * 16 + 16);
  work();
  sink = memory[bytes];
}
KEPT void allocating(void) { SPIN(varying_frame(turn)); }

__attribute__((target("avx2"))) KEPT void realigned_frame(int bytes) {
  typedef double vector __attribute__((vector_size(32)));
  volatile vector values[4];
  char* memory = alloca((size_t)bytes * 16 + 16);
  memory[bytes] = (char)bytes;
  for (int i = 0; i < 4; i++) values[i] = (vector){bytes, 0, 0, 0};
  work();
  sink = values[1][0] + memory[bytes];
}
KEPT void realigned(void) { SPIN(realigned_frame(turn)); }

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

void without_table(void (*call)(void));
__asm__(
    ".text\n.type without_table,@function\nwithout_table: sub $24,%rsp\n call *%rdi\n add $24,%rsp\n ret\n"
    ".size without_table,.-without_table\n .skip 64,0x90\n");
KEPT void no_table(void) { SPIN(without_table(work)); }

void with_frame_pointer(void (*call)(void));
__asm__(
    ".text\n.type with_frame_pointer,@function\nwith_frame_pointer: push %rbp\n mov %rsp,%rbp\n sub "
    "$16,%rsp\n"
    " call *%rdi\n leave\n ret\n.size with_frame_pointer,.-with_frame_pointer\n .skip 64,0x90\n");
KEPT void frame_pointer(void) { SPIN(with_frame_pointer(work)); }

KEPT void in_kernel(void) { SPIN(for (int i = 0; i < 2000; i++) sink = (double)getppid()); }

int main(int count, char** words) {
  struct {
    const char* name;
    void (*run)(void);
  } const cases[] = {
      {"plain", plain},           {"recursion", recursion},         {"very_deep", very_deep},
      {"allocating", allocating}, {"realigned", realigned},         {"sorting", sorting},
      {"in_handler", in_handler}, {"in_thread", in_thread},         {"in_coroutine", in_coroutine},
      {"no_table", no_table},     {"frame_pointer", frame_pointer}, {"in_kernel", in_kernel}};
  if (count > 2) seconds = atof(words[2]);
  for (size_t i = 0; count > 1 && i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(words[1], cases[i].name) == 0 || strcmp(words[1], "all") == 0) cases[i].run();
  return 0;
}
