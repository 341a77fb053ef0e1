/* A fork while another thread is in its first pctally_start(): the child, which need not know pctally, ends.
   The allocation of the file (first_fork_allocation.c) tells when the library holds its lock. */
#include <pctally/pctally.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern sem_t g_allocating, g_forked;

static void* start(void* unused) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "first_fork.pct";
  options.flags = PCTALLY_OVERWRITE | PCTALLY_NO_TIMER;
  pctally_start(&options);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&g_allocating, 0, 0);
  sem_init(&g_forked, 0, 0);
  if (pthread_create(&thread, NULL, start, NULL) != 0) return 2;
  sem_wait(&g_allocating);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    exit(0); /* the library's destructor asks for its lock */
  }
  sem_post(&g_forked);
  int status = 0;
  waitpid(child, &status, 0);
  pthread_join(thread, NULL);
  pctally_stop();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
