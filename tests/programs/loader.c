/* loader PLUGIN SECONDS: spends that much CPU time in a library it loads with dlopen after half a second of
 * its own. */
#include "spin.h"

#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) uint64_t own_work(uint64_t turns) { return turn(turns, 2); }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 300000000u, value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value += own_work(20000);
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  uint64_t (*work)(uint64_t) = (uint64_t(*)(uint64_t))dlsym(library, "plugin_work");
  end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(argv[2]) * 1e9);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value += work(20000);
  return value == 42;
}
