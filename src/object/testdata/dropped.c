/* A function that the linker drops, longer than what lies before the text, and one that stays. Each of its instructions
   has a row of its own, so that rows of both mix where they are sorted by address. */
volatile unsigned sink;

void dropped(void) { __asm__(".rept 8192\n .loc 1 5\n nop\n .loc 1 6\n nop\n .endr\n"); }

__attribute__((noinline)) unsigned kept(unsigned x) {
  for (unsigned i = 0; i < x; i++) { /* first of kept */
    sink = sink * 1664525u + i;
    sink ^= sink >> 7;
    sink += sink * i;
  }
  return sink; /* last of kept */
}

int main(int argc, char **argv) { return (int)kept((unsigned)argc + (argv != 0)); }
