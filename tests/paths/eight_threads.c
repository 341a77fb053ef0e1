/* eight_threads SECONDS: eight threads, each in an outer function and with a leaf function of its own, and
 * with the name t0 to t7 while its outer function is on the stack. Between the two lie 20 random turns: more
 * paths than a small tree has nodes for. Built without frame pointers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "busy.h"

static double seconds = 0.25;
static _Thread_local unsigned draws;
static _Thread_local void (*leaf)(void);

KEPT int left(int depth);
KEPT int right(int depth);
KEPT int turning(int depth) {
  if (depth == 0) leaf();
  draws = draws * 1103515245 + 12345;
  return depth == 0 ? 1 : (draws >> 16 & 1 ? left : right)(depth - 1) + 1;
}
KEPT int left(int depth) { return turning(depth) + 1; }
KEPT int right(int depth) { return turning(depth) - 1; }

KEPT void run(void) {
  for (double end = cpu_time() + seconds; cpu_time() < end;)
    for (int i = 0; i < 20; i++) sink = turning(20);
}

#define THREAD(n)                               \
  KEPT void leaf_##n(void) {                    \
    double value = n;                           \
    for (int i = 0; i < 30000; i++) value += i; \
    sink = value;                               \
  }                                             \
  KEPT void* outer_##n(void* argument) {        \
    draws = n + 1;                              \
    leaf = leaf_##n;                            \
    pthread_setname_np(pthread_self(), "t" #n); \
    run();                                      \
    pthread_setname_np(pthread_self(), "done"); \
    return argument;                            \
  }
THREAD(0)
THREAD(1)
THREAD(2)
THREAD(3)
THREAD(4)
THREAD(5)
THREAD(6)
THREAD(7)

int main(int count, char** words) {
  void* (*const outer[])(void*) = {outer_0, outer_1, outer_2, outer_3, outer_4, outer_5, outer_6, outer_7};
  pthread_t threads[8];
  if (count > 1) seconds = atof(words[1]);
  for (int i = 0; i < 8; i++)
    if (pthread_create(&threads[i], NULL, outer[i], NULL) != 0) return 1;
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return 0;
}
