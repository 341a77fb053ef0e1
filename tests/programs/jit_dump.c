/* jit_dump SECONDS: writes machine code into memory without a file, tells a jitdump in the working directory
 * its name and its lines, and runs it.
 */
#include "loop_code.h"
#include "spin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__aarch64__)
#define MACHINE 183
#else
#define MACHINE 62
#endif

static FILE* dump;

static void put(const void* bytes, size_t size) {
  if (fwrite(bytes, size, 1, dump) != 1) exit(1);
}
static void put32(uint32_t value) { put(&value, sizeof value); }
static void put64(uint64_t value) { put(&value, sizeof value); }

static void put_line(uint64_t address, uint32_t line) {
  put64(address), put32(line), put32(0), put("/made/up.src", 13);
}

static void write_dump(uint64_t code) {
  const uint32_t pid = (uint32_t)getpid();
  put32(0x4a695444), put32(1), put32(40), put32(MACHINE), put32(0), put32(pid), put64(1), put64(0);
  put32(2), put32(16 + 16 + 2 * 29), put64(2), put64(code), put64(2); /* JIT_CODE_DEBUG_INFO */
  put_line(code, 10), put_line(code + 4, 11);
  put32(0), put32(16 + 40 + 12 + sizeof kCode), put64(3); /* JIT_CODE_LOAD */
  put32(pid), put32(pid), put64(code), put64(code), put64(sizeof kCode), put64(1);
  put("jitted_loop", 12), put(kCode, sizeof kCode);
}

int main(int argc, char** argv) {
  if (sizeof kCode < 2) return 77;
  unsigned char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  memcpy(page, kCode, sizeof kCode);
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) return 1;
  __builtin___clear_cache((char*)page, (char*)page + 4096);
  char name[64];
  snprintf(name, sizeof name, "jit-%d.dump", (int)getpid());
  dump = fopen(name, "w+");
  if (dump == NULL) return 1;
  write_dump((uint64_t)(uintptr_t)page);
  /* Profilers find the file by this mapping. */
  if (fflush(dump) != 0 ||
      mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
    return 1;
  void (*loop)(void) = (void (*)(void))(uintptr_t)page;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) loop();
  return 0;
}
