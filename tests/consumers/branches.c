/* A loop whose rounds take one way of a branch 1023 times of 1024. branches ROUNDS */
#include <stdlib.h>

unsigned work(unsigned rounds);

#ifndef ONLY_MAIN
__attribute__((noinline)) static void seldom(unsigned i) { __asm__ volatile("" : : "r"(i) : "memory"); }

static inline unsigned mix(unsigned sum, unsigned i) {
  sum = sum * 31 + i;
  __asm__ volatile("" : "+r"(sum));
  return sum;
}

__attribute__((noinline)) unsigned work(unsigned rounds) {
  unsigned sum = 0;
  for (unsigned i = 0; i < rounds; i++) {
    if (i % 1024 == 7) {
      seldom(i);
    } else {
      sum = mix(sum, i);
    }
  }
  return sum;
}
#endif

#ifndef ONLY_WORK
int main(int argc, char** argv) {
  return argc > 1 && work((unsigned)strtoul(argv[1], NULL, 10)) == 1;
}
#endif
