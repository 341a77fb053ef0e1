/* Programs that record themselves (record_self.c): self_paths CASE SECONDS [LIBRARY]. Built without frame
 * pointers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pctally/pctally.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

volatile double sink;

static double cpu_time(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static KEPT void work(void) {
  double value = 1;
  for (int i = 0; i < 3000; i++) value = value * 1.0000001 + i;
  sink = value;
}

/* More paths than a small tree has nodes for: each of three functions calls each, 20 deep. Goes on until
 * there were enough deliveries to fill one, which take longer beside busy programs. */
static unsigned draws = 1;
static unsigned draw(void) { return (draws = draws * 1103515245 + 12345) >> 16; }
KEPT void first(int depth);
KEPT void second(int depth);
KEPT void third(int depth);
static KEPT void next(int depth) {
  unsigned which = draw() % 3;
  if (depth == 0) return work();
  if (which == 0) first(depth - 1);
  if (which == 1) second(depth - 1);
  if (which == 2) third(depth - 1);
  sink++;
}
KEPT void first(int depth) { next(depth), sink = 1; }
KEPT void second(int depth) { next(depth), sink = 2; }
KEPT void third(int depth) { next(depth), sink = 3; }
static int needs_more(void) {
  struct pctally_tick_ledger ledger;
  return pctally_ledger(&ledger) == 0 && ledger.samples < 150;
}
static KEPT void many(double seconds) {
  double start = cpu_time(CLOCK_PROCESS_CPUTIME_ID), used = 0;
  for (; used < seconds || (used < 10 * seconds && needs_more());
       used = cpu_time(CLOCK_PROCESS_CPUTIME_ID) - start)
    for (int turn = 0; turn < 20; turn++) next(20);
}

static double thread_seconds;
static KEPT int down(int depth) {
  if (depth == 0) work();
  return depth == 0 ? 1 : down(depth - 1) + 1;
}
static KEPT void* in_thread(void* argument) {
  for (double end = cpu_time(CLOCK_THREAD_CPUTIME_ID) + thread_seconds;
       cpu_time(CLOCK_THREAD_CPUTIME_ID) < end;)
    sink = down(40);
  return argument;
}
/* Says "busy" when all its threads run. */
static KEPT void threads(double seconds) {
  pthread_t all[8];
  thread_seconds = seconds / 8;
  for (int i = 0; i < 8; i++) pthread_create(&all[i], NULL, in_thread, NULL);
  puts("busy");
  fflush(stdout);
  for (int i = 0; i < 8; i++) pthread_join(all[i], NULL);
}

/* Handlers on an alternate stack of the least size there is, right above what cannot be touched; then a
 * thread with 16 KiB. */
static KEPT void small_stacks(double seconds) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), least = (size_t)sysconf(_SC_MINSIGSTKSZ);
  size_t bytes = least < 2048 ? 2048 : least, whole = (bytes + page - 1) / page * page;
  char* memory = mmap(NULL, page + whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};
  pthread_attr_t attributes;
  pthread_t thread;
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0 || sigaltstack(&stack, NULL) != 0)
    exit(1);
  thread_seconds = seconds / 2;
  in_thread(NULL);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  if (pthread_create(&thread, &attributes, in_thread, NULL) != 0) exit(1);
  pthread_join(thread, NULL);
}

typedef void (*late_function)(void (*call)(void), double seconds);
static KEPT void before_refresh(late_function late, double seconds) {
  late(work, seconds);
  sink = 1;
}
static KEPT void after_refresh(late_function late, double seconds) {
  late(work, seconds);
  sink = 2;
}
static KEPT void loaded(double seconds, const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  late_function late = NULL;
  void* found = handle == NULL ? NULL : dlsym(handle, "late");
  memcpy((void*)&late, (void*)&found, sizeof late);
  if (late == NULL) exit(1);
  before_refresh(late, seconds / 2);
  if (pctally_refresh() != 0) exit(1);
  after_refresh(late, seconds / 2);
}

/* The first cut of a kind when the tree is full. */
static KEPT void full(double seconds, const char* library) {
  many(seconds);
  loaded(seconds, library);
}

int main(int count, char** words) {
  double seconds = count > 2 ? atof(words[2]) : 1;
  const char* name = count > 1 ? words[1] : "";
  if (strcmp(name, "many") == 0) many(seconds);
  if (strcmp(name, "threads") == 0) threads(seconds);
  if (strcmp(name, "small_stacks") == 0) small_stacks(seconds);
  if (strcmp(name, "loaded") == 0 && count > 3) loaded(seconds, words[3]);
  if (strcmp(name, "full") == 0 && count > 3) full(seconds, words[3]);
  return 0;
}
