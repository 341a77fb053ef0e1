/* sprawl MIB PIECES FILE: maps so many pieces of FILE, which it makes and which takes no room on a disk, as
 * code, MIB each, and runs in one after the other until it is killed: an attempt to take a profiler's memory.
 */
#include "loop_code.h"
#include "spin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (sizeof kCode < 2 || argc < 4) return 77;
  size_t bytes = (size_t)atoi(argv[1]) << 20, pieces = (size_t)atoi(argv[2]);
  int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0700);
  if (fd < 0 || ftruncate(fd, (off_t)(bytes * pieces)) != 0) return 1;
  void (**loops)(void) = calloc(pieces, sizeof *loops);
  for (size_t i = 0; i < pieces; ++i) {
    if (pwrite(fd, kCode, sizeof kCode, (off_t)(bytes * i)) < 0) return 1;
    void* text = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(bytes * i));
    if (text == MAP_FAILED) return 1;
    loops[i] = (void (*)(void))text;
  }
  for (size_t i = 0;; i = (i + 1) % pieces) {
    uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 1000000;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) loops[i]();
  }
}
