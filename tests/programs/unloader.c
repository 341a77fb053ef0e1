/* unloader PLUGIN_A PLUGIN_B SECONDS [MS]: loads and unloads the two libraries in turn, at one address, and
 * spends 3/4 of that CPU time in A, 1/4 in B, 3 * MS and MS (1) milliseconds each time. Exits with 3 if they
 * did not come to lie at one address. */
#include "spin.h"

#include <dlfcn.h>
#include <stdio.h>

static uint64_t place;

static uint64_t visit(const char* path, uint64_t ns) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), exit(1), 0;
  uint64_t (*work)(uint64_t) = (uint64_t(*)(uint64_t))dlsym(library, "plugin_work");
  if (place != 0 && place != (uint64_t)work) exit(3);
  place = (uint64_t)work;
  uint64_t value = 0, end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value += work(20000);
  dlclose(library);
  return value;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const uint64_t turn_ns = (argc > 4 ? strtoull(argv[4], NULL, 10) : 1) * 1000000;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(argv[3]) * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
    value += visit(argv[1], 3 * turn_ns) + visit(argv[2], turn_ns);
  return value == 42;
}
