/* thread_ends: threads that return, call pthread_exit(3), and are cancelled, each with a cleanup handler and
 * a destructor of its own data to run, and detached ones. Prints the results, handlers and destructors seen.
 */
#include "spin.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kRounds = 50 };
static pthread_key_t g_key;
static int g_cleaned, g_destroyed, g_detached, g_results;

static void clean(void* unused) {
  (void)unused;
  __atomic_fetch_add(&g_cleaned, 1, __ATOMIC_RELAXED);
}
static void destroy(void* unused) {
  (void)unused;
  __atomic_fetch_add(&g_destroyed, 1, __ATOMIC_RELAXED);
}

static void use_time(void) {
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 1000000;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) turn(1000, 1);
}

static void* returns(void* argument) {
  pthread_setspecific(g_key, argument);
  use_time();
  return argument;
}
static void* exits(void* argument) {
  pthread_setspecific(g_key, argument);
  pthread_cleanup_push(clean, NULL);
  use_time();
  pthread_exit(argument);
  pthread_cleanup_pop(0);
  return NULL;
}
static void* waits(void* argument) {
  pthread_setspecific(g_key, argument);
  pthread_cleanup_push(clean, NULL);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return NULL;
}
static void* leaves(void* argument) {
  use_time();
  __atomic_fetch_add(&g_detached, 1, __ATOMIC_RELEASE);
  return argument;
}

static void join(pthread_t thread, void* expected) {
  void* result = NULL;
  g_results += pthread_join(thread, &result) == 0 && result == expected;
}

int main(void) {
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_key_create(&g_key, destroy);
  for (int i = 0; i < kRounds; ++i) {
    pthread_t threads[4];
    if (pthread_create(&threads[0], NULL, returns, &threads[0]) != 0 ||
        pthread_create(&threads[1], NULL, exits, &threads[1]) != 0 ||
        pthread_create(&threads[2], NULL, waits, &threads[2]) != 0 ||
        pthread_create(&threads[3], &detached, leaves, NULL) != 0)
      return 1;
    join(threads[0], &threads[0]);
    join(threads[1], &threads[1]);
    pthread_cancel(threads[2]);
    join(threads[2], PTHREAD_CANCELED);
  }
  while (__atomic_load_n(&g_detached, __ATOMIC_ACQUIRE) != kRounds) usleep(1000);
  printf("%d %d %d %d\n", g_results, g_cleaned, g_destroyed, g_detached);
  return 0;
}
