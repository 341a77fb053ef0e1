/* cancelled FILE ENGINE: profiles itself while threads of it are cancelled at any moment, ticks among them;
 * then stops, which waits for ticks in flight. SIGALRM ends it if that hangs. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "pctally/pctally.h"
#include "spin.h"

/* Ticks take longer with a deep stack. */
__attribute__((noinline)) static uint64_t deep(unsigned levels) {
  if (levels != 0) return deep(levels - 1) + 1;
  for (;;) turn(1000000, 0);
}

static void* work(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  deep(25);
  return unused;
}

int main(int count, char** words) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  if (count != 3) return 2;
  options.path = words[1];
  options.engine = words[2];
  options.flags = PCTALLY_OVERWRITE | PCTALLY_CALLERS;
  options.period_ns = 100000;
  alarm(120);
  if (pctally_start(&options) != 0) return puts(pctally_error()), 1;
  for (unsigned i = 0; i < 1000; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    usleep(500 + i % 97);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
  return pctally_stop();
}
