/* clones_inside CHILDREN: while two threads make threads, makes children by the bare clone(2), each of them
 * process 1 of a pid namespace of its own, which call sigprocmask(2) and end. Prints how many had to be
 * killed. 77: the system does not allow it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* end(void* unused) { return unused; }

static void* churn(void* unused) {
  for (pthread_t thread;;)
    if (pthread_create(&thread, NULL, end, NULL) == 0) pthread_join(thread, unused);
  return NULL;
}

/* Waits for up to 20 s. */
static int hangs(pid_t child) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 20000; ++i) {
    if (waitpid(child, NULL, WNOHANG) != 0) return 0;
    nanosleep(&pause, NULL);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 1;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  pthread_t thread;
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&thread, NULL, churn, NULL) != 0) return 1;
  int hung = 0;
  for (int left = atoi(words[1]); left > 0 && hung == 0; --left) {
    const pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child < 0) return 77;
    if (child == 0) {
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_BLOCK, &none, NULL);
      _exit(0);
    }
    hung = hangs(child);
  }
  printf("%d hung\n", hung);
  fflush(stdout);
  _exit(0);
}
