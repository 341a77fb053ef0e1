/* waiting_main SECONDS: four threads use the CPU while the main thread waits in poll, nanosleep, epoll_wait
 * and sem_timedwait for 20 ms each, over and over; then in pthread_join. Prints how many of its waits were
 * interrupted (EINTR), and how many there were. */
#include "spin.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

static double g_seconds;
static int g_interrupted, g_waits;

__attribute__((noinline)) uint64_t work(uint64_t value) { return turn(20000, value); }

static void* worker(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_MONOTONIC) < end) value = work(value);
  return NULL;
}

static void note(int result) {
  ++g_waits;
  g_interrupted += result != 0 && errno == EINTR;
}

static void wait_in_turn(int epoll, sem_t* semaphore) {
  struct epoll_event event;
  struct timespec pause = {0, 20000000}, until;
  errno = 0;
  note(poll(NULL, 0, 20));
  note(nanosleep(&pause, NULL));
  note(epoll_wait(epoll, &event, 1, 20));
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  note(sem_timedwait(semaphore, &until));
}

int main(int argc, char** argv) {
  g_seconds = argc > 1 ? atof(argv[1]) : 1;
  pthread_t threads[4];
  sem_t semaphore;
  int epoll = epoll_create1(0);
  sem_init(&semaphore, 0, 0);
  for (int i = 0; i < 4; ++i)
    if (pthread_create(&threads[i], NULL, worker, NULL) != 0) return 1;
  uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(g_seconds * 9e8);
  while (now_ns(CLOCK_MONOTONIC) < end) wait_in_turn(epoll, &semaphore);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  printf("%d %d\n", g_interrupted, g_waits);
  return 0;
}
