/* A library with a function of its own named as a call of POSIX, which it calls by its exported name. */
#include <stdio.h>

long syscall(const long* registers) { return registers[0]; }

long emulate(long number) {
  const long registers[] = {number};
  return syscall(registers);
}
