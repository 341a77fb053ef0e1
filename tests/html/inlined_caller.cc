// inner() is inlined into main() and calls step(), whose two loops have code between them that does not run.
#include <cstdio>

__attribute__((noinline)) unsigned step(unsigned x) {
  for (int i = 0; i < 1000; ++i) x = x * 1664525u + 1013904223u;
  if (x == 1) {
    puts("one");
    puts("two");
    puts("three");
    puts("four");
    puts("five");
    puts("six");
    puts("seven");
    puts("eight");
    puts("nine");
  }
  for (int i = 0; i < 1000; ++i) x = x * 69069u + 1u;
  return x;
}

__attribute__((always_inline)) inline unsigned inner(unsigned x) { return step(x) + 1; }

int main() {
  unsigned x = 1;
  for (int i = 0; i < 150'000; ++i) x = inner(x);
  return x == 0 ? 1 : 0;
}
