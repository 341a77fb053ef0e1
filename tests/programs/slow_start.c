/* A library whose constructor runs before a preloaded one's. $SLOW_START_S: seconds of CPU time that it
 * takes, as the dynamic linker does where a program has hundreds of libraries. $SLOW_START_TEXT: a file. It
 * makes the file and maps 192 MiB of it as code, in pieces of 128 KiB. $SLOW_END_S: seconds of CPU time that
 * its destructor takes, which runs after a preloaded one's. */
#include "spin.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPieces = 1536, kPiece = 128 << 10 };

static void map_text(const char* name) {
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0700);
  if (fd < 0 || ftruncate(fd, (off_t)kPieces * kPiece) != 0) _exit(99);
  /* From the last to the first, so that no two are one mapping. */
  for (off_t piece = kPieces; piece-- > 0;)
    if (mmap(NULL, kPiece, PROT_READ | (piece % 2 ? PROT_EXEC : PROT_EXEC | PROT_WRITE), MAP_PRIVATE, fd,
             piece * kPiece) == MAP_FAILED)
      _exit(99);
  close(fd);
}

__attribute__((constructor)) static void begin(void) {
  const char *seconds = getenv("SLOW_START_S"), *text = getenv("SLOW_START_TEXT");
  if (text != NULL) map_text(text);
  uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)((seconds ? atof(seconds) : 0) * 1e9);
  while (seconds != NULL && now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) turn(1000, 1);
}

__attribute__((noinline)) uint64_t turn_at_end(uint64_t value) { return turn(20000, value); }

__attribute__((destructor)) static void end_slowly(void) {
  const char* seconds = getenv("SLOW_END_S");
  uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)((seconds ? atof(seconds) : 0) * 1e9),
           value = 0;
  while (seconds != NULL && now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) value = turn_at_end(value);
}
