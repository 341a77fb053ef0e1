/* toucher PAGES [PAUSES]: writes to so many fresh pages in touch_pages(), each a page fault, then sleeps so
 * often in pause_often(), each a context switch. Prints what the kernel says: the faults in touch_pages(),
 * the switches in pause_often(), and those since its start. */
#include "spin.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) void touch_pages(volatile char* memory, size_t pages, size_t page) {
  for (size_t i = 0; i < pages; ++i) memory[i * page] = 1;
}

__attribute__((noinline)) void pause_often(long pauses) {
  struct timespec shortly = {0, 100000};
  for (long i = 0; i < pauses; ++i) nanosleep(&shortly, NULL);
}

static struct rusage usage_now(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

int main(int argc, char** argv) {
  size_t pages = argc > 1 ? (size_t)atol(argv[1]) : 4000, page = (size_t)sysconf(_SC_PAGESIZE);
  char* memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  struct rusage first = usage_now();
  touch_pages(memory, pages, page);
  struct rusage touched = usage_now();
  pause_often(argc > 2 ? atol(argv[2]) : 0);
  struct rusage last = usage_now();
  printf("%ld %ld %ld\n", touched.ru_minflt + touched.ru_majflt - first.ru_minflt - first.ru_majflt,
         last.ru_nvcsw + last.ru_nivcsw - touched.ru_nvcsw - touched.ru_nivcsw,
         last.ru_nvcsw + last.ru_nivcsw);
  return 0;
}
