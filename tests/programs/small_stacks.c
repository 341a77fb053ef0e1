/* small_stacks BYTES [own]: threads of 16 KiB of stack each use BYTES of it and 60 ms of CPU time; with `own`
 * the stack is the program's memory. */
#define _GNU_SOURCE
#include "spin.h"

#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { kStack = 16 << 10 };
static size_t g_bytes;

__attribute__((noinline)) uint64_t on_small_stack(uint64_t value) { return turn(20000, value); }

static void* worker(void* unused) {
  (void)unused;
  volatile char* room = alloca(g_bytes);
  for (size_t i = 0; i < g_bytes; i += 64) room[i] = 1;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 60000000, value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = on_small_stack(value);
  return NULL;
}

int main(int argc, char** argv) {
  g_bytes = argc > 1 ? (size_t)atol(argv[1]) : 8192;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    if (argc > 2) { /* a page that nobody may touch below it */
      char* memory = mmap(NULL, kStack + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      mprotect(memory + 4096, kStack, PROT_READ | PROT_WRITE);
      pthread_attr_setstack(&attributes, memory + 4096, kStack);
    }
    if (pthread_create(&thread, &attributes, worker, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  size_t size = 0;
  pthread_attr_getstacksize(&attributes, &size);
  if (size != kStack) return 2; /* the program's attributes are as it left them */
  puts("lived");
  return 0;
}
