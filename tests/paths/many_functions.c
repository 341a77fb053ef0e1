/* many_functions: calls each of 100,000 functions once. Each reads a page that nobody has touched before, so
 * that each has one page fault of its own: 50 of them in 2 ms at most, which the kernel lets pass at any
 * sampling rate above 25,000 a second. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

enum { kFunctions = 100000, kBytesOfFunction = 16, kPage = 4096, kAtOnce = 50 };

extern char functions[];
__asm__(
    ".text\n.p2align 4\nfunctions:\n"
    ".macro one\n.p2align 4\n.type f_\\@,@function\nf_\\@:\n.cfi_startproc\n movb (%rdi),%al\n "
    "ret\n.cfi_endproc\n"
    ".size f_\\@,.-f_\\@\n.endm\n"
    ".rept 100000\none\n.endr\n");

__attribute__((noinline)) static void call_all(char* memory) {
  const struct timespec pause = {.tv_nsec = 2000000};
  for (size_t i = 0; i < kFunctions; ++i) {
    ((void (*)(char*))(void*)(functions + i * kBytesOfFunction))(memory + i * kPage);
    if (i % kAtOnce == 0) nanosleep(&pause, NULL);
  }
}

int main(void) {
  char* memory =
      mmap(NULL, (size_t)kFunctions * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, (size_t)kFunctions * kPage, MADV_NOHUGEPAGE) != 0) return 1;
  call_all(memory);
  return 0;
}
