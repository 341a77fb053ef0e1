/* posix_fallocate(3) for first_fork: between our library, which passes a program's own over, and the C
 * library. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

sem_t g_allocating, g_forked;

int posix_fallocate(int fd, off_t offset, off_t bytes) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += 300000000;
  if (limit.tv_nsec >= 1000000000) limit.tv_sec += 1, limit.tv_nsec -= 1000000000;
  sem_post(&g_allocating);
  sem_timedwait(&g_forked, &limit); /* a fork that waits for the lock comes later: as it should */
  return ftruncate(fd, offset + bytes);
}
