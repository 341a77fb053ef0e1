/* Starts processes and threads all the time, each kind in a function of its own: starts CASE SECONDS. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile int sink; /* so that no call is the last one */

KEPT void by_vfork(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  sink = waitpid(child, NULL, 0);
}

/* The child finds no program, and ends. */
KEPT void by_spawn(void) {
  char name[] = "/no/such/program", *words[] = {name, NULL};
  pid_t child;
  sink = posix_spawn(&child, name, NULL, NULL, words, words + 1);
}

static void* nothing(void* argument) { return argument; }

KEPT void by_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL) == 0) sink = pthread_join(thread, NULL);
}

int main(int count, char** words) {
  const char* names[] = {"by_vfork", "by_spawn", "by_thread"};
  void (*const runs[])(void) = {by_vfork, by_spawn, by_thread};
  const clock_t end = (clock_t)((count > 2 ? atof(words[2]) : 0.3) * CLOCKS_PER_SEC);
  for (size_t i = 0; count > 1 && i < sizeof runs / sizeof runs[0]; i++)
    while (strcmp(words[1], names[i]) == 0 && clock() < end) runs[i]();
  return 0;
}
