/* A library that calls sigprocmask(2) in each child of fork(2): in a handler that was there before those of
 * libraries in front of it in LD_PRELOAD. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static void in_child(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &none, NULL);
}

__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, in_child); }
