/* storms CASE SECONDS [LIBRARY]: what is hard on whoever follows call paths. Built without frame pointers.
 * Its exit status is 0 if all went as it does without an observer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "../programs/tiles.h"
#include "busy.h"

#ifndef AT_MINSIGSTKSZ /* not all C libraries have it */
#define AT_MINSIGSTKSZ 51
#endif

static double seconds = 0.3;
static const char* library;

static KEPT void work(void) {
  double value = 1;
  for (int i = 0; i < 30000; i++) value = value * 1.0000001 + i;
  sink = value;
}

static void run_threads(int count, void* (*body)(void*)) {
  pthread_t threads[64];
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, body, NULL) != 0) exit(2);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void expect_success(pid_t pid) {
  int status = -1;
  if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) exit(3);
}

static char* map(size_t bytes, int protection) {
  char* memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(4);
  return memory;
}

/* 64 threads load a library, are called from it, and unload it. */
static void* loader(void* argument) {
  for (double end = cpu_time() + seconds / 16; cpu_time() < end;) {
    void* handle = dlopen(library, RTLD_NOW);
    void (*late)(void (*call)(void), double seconds) = NULL;
    void* found = handle == NULL ? NULL : dlsym(handle, "late");
    memcpy((void*)&late, (void*)&found, sizeof late);
    if (late == NULL) exit(5);
    late(work, 0.0005);
    dlclose(handle);
  }
  return argument;
}
static void loaders(void) { run_threads(64, loader); }

/* Eight threads vfork at once; a child is busy in its parent's memory before it executes this program. */
static void* vforker(void* argument) {
  char* again[] = {"storms", "quick", NULL};
  for (int i = 0; i < 25; i++) {
    pid_t pid = vfork();
    if (pid == 0) {
      work();
      execv("/proc/self/exe", again);
      _exit(1);
    }
    expect_success(pid);
    work();
  }
  return argument;
}
static void vforks(void) { run_threads(8, vforker); }
static void quick(void) { work(); }

/* Executes itself again and again. */
static void execs(void) {
  const char* text = getenv("STORMS_LEFT");
  const int left = text == NULL ? 60 : atoi(text);
  char* again[] = {"storms", "execs", NULL};
  char number[16];
  for (int i = 0; i < 10; i++) work();
  if (left == 0) return;
  snprintf(number, sizeof number, "%d", left - 1);
  setenv("STORMS_LEFT", number, 1);
  execv("/proc/self/exe", again);
  exit(6);
}

/* Processes in one memory, with the thread-local storage of their parent. */
static int clone_body(void* argument) {
  (void)argument;
  for (double end = cpu_time() + seconds / 40; cpu_time() < end;) work();
  return 0;
}
static void clones(void) {
  enum { kStack = 64 << 10 };
  char* stack = map(kStack, PROT_READ | PROT_WRITE);
  for (int i = 0; i < 20; i++) {
    pid_t pid = clone(clone_body, stack + kStack, CLONE_VM | SIGCHLD, NULL);
    for (int turn = 0; turn < 20; turn++) work();
    expect_success(pid);
  }
}

/* Stacks are switched every few microseconds. */
enum { kCoroutines = 16 };
static ucontext_t coroutines_of_all[kCoroutines], home;
static int current;
static double coroutines_end;
KEPT void switch_deep(int depth) {
  if (depth > 0) {
    switch_deep(depth - 1);
  } else {
    const int before = current;
    for (int i = 0; i < 1000; i++) sink = sink * 1.0000001 + i;
    current = (current + 1) % kCoroutines;
    swapcontext(&coroutines_of_all[before], &coroutines_of_all[current]);
  }
  sink++;
}
static void coroutine(void) {
  while (cpu_time() < coroutines_end) switch_deep(current);
  setcontext(&home);
}
/* Below its stack lies memory that nobody may touch. */
static void make_coroutine(ucontext_t* context, size_t bytes, void (*body)(void)) {
  enum { kUntouched = 64 << 10 };
  char* memory = map(kUntouched + bytes, PROT_READ | PROT_WRITE);
  if (mprotect(memory, kUntouched, PROT_NONE) != 0 || getcontext(context) != 0) exit(7);
  context->uc_stack.ss_sp = memory + kUntouched;
  context->uc_stack.ss_size = bytes;
  context->uc_link = &home;
  makecontext(context, body, 0);
}
static void coroutines(void) {
  coroutines_end = cpu_time() + seconds;
  for (int i = 0; i < kCoroutines; i++) make_coroutine(&coroutines_of_all[i], 64 << 10, coroutine);
  swapcontext(&home, &coroutines_of_all[0]);
}

/* Room for a signal, and for little more. */
static void on_small_stack(void) {
  while (cpu_time() < coroutines_end) work();
}
static void small_coroutine(void) {
  const size_t least = getauxval(AT_MINSIGSTKSZ); /* 0: the kernel does not say */
  coroutines_end = cpu_time() + seconds;
  make_coroutine(&coroutines_of_all[0], least == 0 ? 64 << 10 : least + 1280, on_small_stack);
  swapcontext(&home, &coroutines_of_all[0]);
}

/* The stack begins where memory ends: whoever looks for who called its first function finds no memory. Ticks
 * come on an alternate stack, with the tiles of AMX if they are asked for. */
#ifdef __x86_64__
KEPT void beside_end_of_memory(void) {
  for (double end = cpu_time() + seconds; cpu_time() < end;) work();
  exit(0);
}
void first_on_stack(void);
__asm__(
    ".text\n.type first_on_stack,@function\nfirst_on_stack:\n.cfi_startproc\n sub $16,%rsp\n"
    " .cfi_def_cfa_offset 24\n call beside_end_of_memory\n.cfi_endproc\n"
    ".size first_on_stack,.-first_on_stack\n");
static void at_end_of_memory(size_t bytes_of_alternate) {
  enum { kBytes = 64 << 10, kPage = 4096 };
  char* alternate = map(kPage + bytes_of_alternate, PROT_READ | PROT_WRITE);
  char* memory = map(2 * kBytes, PROT_READ | PROT_WRITE);
  const stack_t stack = {.ss_sp = alternate + kPage, .ss_size = bytes_of_alternate};
  if (mprotect(alternate, kPage, PROT_NONE) != 0 || mprotect(memory + kBytes, kBytes, PROT_NONE) != 0 ||
      sigaltstack(&stack, NULL) != 0)
    exit(9);
  __asm__ volatile("mov %0,%%rsp\n\tjmp first_on_stack" : : "r"(memory + kBytes) : "memory");
}
static void end_of_memory(void) { at_end_of_memory(7700); }
static void end_of_memory_with_tiles(void) {
  if (!use_tiles()) exit(0);
  at_end_of_memory(16 << 10);
}
#else
static void end_of_memory(void) {}
static void end_of_memory_with_tiles(void) {}
#endif

/* Unmaps the code of a function that waits for a call to return, and puts it back before that. */
extern char gone_start[], gone_end[];
void gone(void (*call)(void));
__asm__(
    ".section .text.gone,\"ax\",@progbits\n.p2align 12\ngone_start:\n.type gone,@function\ngone:\n"
    ".cfi_startproc\n sub $8,%rsp\n .cfi_def_cfa_offset 16\n call *%rdi\n add $8,%rsp\n"
    " .cfi_def_cfa_offset 8\n ret\n.cfi_endproc\n.size gone,.-gone\n.p2align 12\ngone_end:\n.text\n");
static char* copy_of_gone;
KEPT void while_unmapped(void) {
  const size_t bytes = (size_t)(gone_end - gone_start);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  munmap(gone_start, bytes);
  for (double end = cpu_time() + seconds; cpu_time() < end;) work();
  if (mmap(gone_start, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != gone_start) _exit(8);
  memcpy(gone_start, copy_of_gone, bytes);
  mprotect(gone_start, bytes, PROT_READ | PROT_EXEC);
}
static void unmapped(void) {
  copy_of_gone = map((size_t)(gone_end - gone_start), PROT_READ | PROT_WRITE);
  memcpy(copy_of_gone, gone_start, (size_t)(gone_end - gone_start));
  gone(while_unmapped);
}

/* Two functions take turns at one address: one with a frame pointer, one without. */
static void jit(void) {
  static const char code[2][10] = {
      "\x55\x48\x89\xe5\xff\xd7\x5d\xc3",      /* push %rbp; mov %rsp,%rbp; call; pop; ret */
      "\x53\x50\x50\xff\xd7\x58\x58\x5b\xc3"}; /* three pushes; call; three pops; ret */
  char* memory = map(4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  void (*made)(void (*call)(void)) = NULL;
  memcpy((void*)&made, (void*)&memory, sizeof made);
  for (double end = cpu_time() + seconds; cpu_time() < end;) {
    for (int which = 0; which < 2; which++) {
      memcpy(memory, code[which], sizeof code[which]);
      for (int turn = 0; turn < 10; turn++) made(work);
    }
  }
}

int main(int count, char** words) {
  struct {
    const char* name;
    void (*run)(void);
  } const cases[] = {{"loaders", loaders},
                     {"vforks", vforks},
                     {"quick", quick},
                     {"execs", execs},
                     {"clones", clones},
                     {"small_coroutine", small_coroutine},
                     {"coroutines", coroutines},
                     {"unmapped", unmapped},
                     {"jit", jit},
                     {"end_of_memory", end_of_memory},
                     {"end_of_memory_with_tiles", end_of_memory_with_tiles}};
  if (count > 2) seconds = atof(words[2]);
  if (count > 3) library = words[3];
  for (size_t i = 0; count > 1 && i < sizeof cases / sizeof cases[0]; i++)
    if (strcmp(words[1], cases[i].name) == 0) cases[i].run();
  return 0;
}
