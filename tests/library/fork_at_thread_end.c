/* A fork while no clock runs and a thread that a clock has sampled is about to end: it holds the lock of the
   threads' records then. The child can start a clock of its own. What a lock calls once it is taken is
   interposed, so that the fork comes at that moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pctally/pctally.h>
#include <pctally/svr4.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t begun, stopped, held, forked;
static __thread int armed;
static unsigned short cells[64];

pthread_t pthread_self(void) {
  static pthread_t (*next)(void);
  if (next == 0) next = (pthread_t(*)(void))dlsym(RTLD_NEXT, "pthread_self");
  if (armed != 0) {
    armed = 0;
    sem_post(&held);
    sem_wait(&forked);
  }
  return next();
}

static int record(const char* path) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = path;
  options.flags = PCTALLY_OVERWRITE;
  options.engine = "timer";
  const int result = pctally_start(&options);
  unlink(path);
  return result;
}

static int profile(const char* unused) {
  (void)unused;
  return pctally_svr4_profil(cells, sizeof cells, (size_t)cells, 0x8000);
}

static void* ends(void* unused) {
  sem_post(&begun);
  sem_wait(&stopped);
  armed = 1;
  return unused;
}

static int survives(int (*starts)(const char*), const char* name) {
  pthread_t thread;
  if (record("fork_at_thread_end.pct") != 0) return 2;
  if (pthread_create(&thread, NULL, ends, NULL) != 0) return 2;
  sem_wait(&begun);
  pctally_stop();
  sem_post(&stopped);
  sem_wait(&held);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(starts("fork_at_thread_end.child.pct") == 0 ? 0 : 1);
  }
  sem_post(&forked);
  int status = 0;
  waitpid(child, &status, 0);
  pthread_join(thread, NULL);
  if (status != 0) printf("%s in the child: status %#x\n", name, (unsigned)status);
  return status != 0;
}

int main(void) {
  alarm(30); /* ends the child, too */
  sem_init(&begun, 0, 0);
  sem_init(&stopped, 0, 0);
  sem_init(&held, 0, 0);
  sem_init(&forked, 0, 0);
  const int recording = survives(record, "pctally_start"), profiling = survives(profile, "profil");
  return recording != 0 || profiling != 0;
}
