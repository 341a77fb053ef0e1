/* forker fork|vfork|spawn COUNT MS: that many children one after another, each of which burns MS of CPU time
 * (in vfork and spawn mode: by running this program again). The parent burns nothing. */
#include "spin.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

__attribute__((noinline)) void burn(double ms) {
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(ms * 1e6), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = turn(200000, value);
}

static pid_t start(const char* how, char** again, double ms) {
  pid_t pid = -1;
  if (strcmp(how, "spawn") == 0)
    return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environ) == 0 ? pid : -1;
  pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
  if (pid != 0) return pid;
  if (strcmp(how, "vfork") == 0) {
    execv("/proc/self/exe", again);
    _exit(1);
  }
  burn(ms);
  exit(0);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  double ms = atof(argv[3]);
  if (strcmp(argv[1], "burn") == 0) return burn(ms), 0;
  char* again[] = {argv[0], (char*)"burn", (char*)"1", argv[3], NULL};
  int status;
  for (int i = atoi(argv[2]); i > 0; --i)
    if (start(argv[1], again, ms) < 0 || wait(&status) < 0 || status != 0) return 1;
  return 0;
}
