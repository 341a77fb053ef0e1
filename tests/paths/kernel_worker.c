/* kernel_worker SECONDS: has a thread of the kernel that works for io_uring and polls without end, and lets
 * it run for that long. Exits with 77 where there is no io_uring. */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int count, char** words) {
  const struct timespec pause = {.tv_nsec = 10000000};
  struct io_uring_params parameters;
  memset(&parameters, 0, sizeof parameters);
  parameters.flags = IORING_SETUP_SQPOLL;
  parameters.sq_thread_idle = 3600000; /* ms that it polls once it was woken */
  const long ring = count == 2 ? syscall(SYS_io_uring_setup, 8, &parameters) : -1;
  if (ring < 0) return 77;
  for (int pauses = (int)(100 * atof(words[1])); pauses > 0; pauses--) {
    syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
    nanosleep(&pause, NULL);
  }
  return 0;
}
