/* jit SECONDS [shared|double]: writes machine code into memory without a file, tells perf's map file about
 * it, and runs it. With "double" the memory is .NET's: a memfd that is mapped once to be written and once to
 * run.
 */
#define _GNU_SOURCE
#include "loop_code.h"
#include "spin.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBytes = 4096, kAt = 128 };

static unsigned char* write_code(int shared) {
  unsigned char* page =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  memcpy(page + kAt, kCode, sizeof kCode);
  return mprotect(page, kBytes, PROT_READ | PROT_EXEC) == 0 ? page : NULL;
}

static unsigned char* write_code_twice_mapped(void) {
  int memory = memfd_create("doublemapper", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, 2 * kBytes) != 0) return NULL;
  unsigned char* written = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, kBytes);
  unsigned char* page = mmap(NULL, kBytes, PROT_READ | PROT_EXEC, MAP_SHARED, memory, kBytes);
  if (written == MAP_FAILED || page == MAP_FAILED) return NULL;
  memcpy(written + kAt, kCode, sizeof kCode);
  return page;
}

int main(int argc, char** argv) {
  if (sizeof kCode < 2) return 77;
  int twice = argc > 2 && strcmp(argv[2], "double") == 0;
  unsigned char* page = twice ? write_code_twice_mapped() : write_code(argc > 2);
  if (page == NULL) return 1;
  __builtin___clear_cache((char*)page, (char*)page + kBytes);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
  remove(name); /* another user's process of this number may have left one, which would stay his */
  FILE* map = fopen(name, "w");
  if (map != NULL)
    fprintf(map, "%lx %lx jitted_loop\n", (unsigned long)(page + kAt), (unsigned long)sizeof kCode),
        fclose(map);
  void (*loop)(void) = (void (*)(void))(page + kAt);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) loop();
  return 0;
}
