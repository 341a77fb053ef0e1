/* fork_storm COUNT: forks COUNT times while two other threads and the forking one are busy, so that ticks
 * fall before, into and behind a fork. A child burns a little under a function of its own and goes; every
 * fourth is made by vfork and executes this program. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile int stop;
volatile double sink;

static KEPT void work(int turns) {
  double value = 1;
  for (int i = 0; i < turns; i++) value = value * 1.0000001 + i;
  sink = value;
}
static KEPT void in_child(int turns) {
  work(turns);
  sink++;
}
static KEPT void in_parent(int turns) {
  work(turns);
  sink--; /* or the compiler makes one function of the two */
}

static void* beside(void* unused) {
  (void)unused;
  while (!stop) in_parent(20000);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    in_child(50000);
    return 0;
  }
  char* again[] = {argv[0], NULL};
  pthread_t threads[2];
  int status = 0, failed = 0;
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, beside, NULL) != 0) return 1;
  for (int i = atoi(argv[1]); i > 0 && !failed; --i) {
    pid_t pid = i % 4 == 0 ? vfork() : fork();
    if (pid == 0 && i % 4 == 0) execv("/proc/self/exe", again);
    if (pid == 0 && i % 4 == 0) _exit(1);
    if (pid == 0) {
      in_child(1000 * (i % 100));
      _exit(0);
    }
    in_parent(1000 * (i % 50));
    failed = pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0;
  }
  stop = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return failed;
}
