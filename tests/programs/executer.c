/* executer HOW FILE ARGUMENT ARGUMENT: computes for 0.1 s and executes FILE by the call HOW. 77: this C
 * library has none. */
#define _GNU_SOURCE
#include "spin.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

int main(int count, char** words) {
  if (count != 5) return 2;
  const char *how = words[1], *file = words[2], *one = words[3], *two = words[4];
  uint64_t value = 0;
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < 100000000) value = turn(20000, value);
  if (strcmp(how, "execv") == 0) execv(file, words + 2);
  if (strcmp(how, "execve") == 0) execve(file, words + 2, environ);
  if (strcmp(how, "execvp") == 0) execvp(file, words + 2);
  if (strcmp(how, "execvpe") == 0) execvpe(file, words + 2, environ);
  if (strcmp(how, "execl") == 0) execl(file, file, one, two, (char*)NULL);
  if (strcmp(how, "execlp") == 0) execlp(file, file, one, two, (char*)NULL);
  if (strcmp(how, "execle") == 0) execle(file, file, one, two, (char*)NULL, environ);
  if (strcmp(how, "fexecve") == 0) fexecve(open(file, O_RDONLY | O_CLOEXEC), words + 2, environ);
#if __GLIBC_PREREQ(2, 34)
  if (strcmp(how, "execveat") == 0) execveat(AT_FDCWD, file, words + 2, environ, 0);
#else
  if (strcmp(how, "execveat") == 0) return 77;
#endif
  return 1;
}
