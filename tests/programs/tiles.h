/* The tiles of AMX, for programs whose signal frames are to be 8 KiB larger. */
#pragma once
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each frame of this thread's has tiles in it from now on. 0: there are none here. */
static int use_tiles(void) {
#ifdef __x86_64__
  enum { kAskFor = 0x1023, kTiles = 18 }; /* ARCH_REQ_XCOMP_PERM */
  static const struct {
    uint8_t palette, first_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } __attribute__((aligned(64))) config = {.palette = 1, .row_bytes = {64}, .rows = {16}};
  if (syscall(SYS_arch_prctl, kAskFor, kTiles) != 0) return 0;
  __asm__ volatile(
      ".byte 0xc4, 0xe2, 0x78, 0x49, 0x00\n\t" /* ldtilecfg (%rax) */
      ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0"     /* tilezero %tmm0 */
      :
      : "a"(&config), "m"(config));
  return 1;
#else
  return 0;
#endif
}
