/* jit SECONDS [shared]: writes machine code into memory without a file, tells perf's map file
 * about it, and runs it.
 */
#include "loop_code.h"
#include "spin.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (sizeof kCode < 2) return 77;
  unsigned char* page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, (argc > 2 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  memcpy(page + 128, kCode, sizeof kCode);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  __builtin___clear_cache((char*)page, (char*)page + 4096);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
  remove(name); /* another user's process of this number may have left one, which would stay his */
  FILE* map = fopen(name, "w");
  if (map != NULL)
    fprintf(map, "%lx %lx jitted_loop\n", (unsigned long)(page + 128), (unsigned long)sizeof kCode),
        fclose(map);
  void (*loop)(void) = (void (*)(void))(page + 128);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) loop();
  return 0;
}
