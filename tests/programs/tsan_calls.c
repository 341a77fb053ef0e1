/* tsan_calls: two thirds of its time in spin_a, called by caller_a, one third in spin_b, called by caller_b;
 * between them it calls usleep from touch. For -fsanitize=thread, which watches what they write. */
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static volatile unsigned long words[64];

KEPT void spin_a(long times) {
  for (long i = 0; i < times; i++) words[i & 63] += (unsigned long)i;
}
KEPT void spin_b(long times) {
  for (long i = 0; i < times; i++) words[i & 63] ^= (unsigned long)i;
}
KEPT void caller_a(void) {
  spin_a(4000000);
  __asm__ volatile("");
}
KEPT void caller_b(void) {
  spin_b(2000000);
  __asm__ volatile("");
}
KEPT void touch(void) {
  usleep(1);
  __asm__ volatile("");
}

static void* work(void* argument) {
  for (int i = 0; i < 8; i++) {
    caller_a();
    touch();
    caller_b();
    touch();
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  work(NULL);
  return pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
