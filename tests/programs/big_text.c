/* big_text SECONDS MIB FILE: maps that many MiB of FILE, which it makes, as code, and spends its CPU time
 * near their end: 64 turns between two looks at the clock, for one turn costs only four times as much as a
 * look. */
#include "loop_code.h"
#include "spin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (sizeof kCode < 2 || argc < 4) return 77;
  size_t bytes = (size_t)atoi(argv[2]) << 20;
  int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0700);
  if (fd < 0 || pwrite(fd, kCode, sizeof kCode, (off_t)bytes - 4096) < 0 || ftruncate(fd, (off_t)bytes) != 0)
    return 1;
  unsigned char* text = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  if (text == MAP_FAILED) return 1;
  void (*loop)(void) = (void (*)(void))(text + bytes - 4096);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(atof(argv[1]) * 1e9);
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
    for (int i = 0; i < 64; i++) loop();
  return 0;
}
