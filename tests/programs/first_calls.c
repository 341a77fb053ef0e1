/* A library whose constructor starts a thread and joins it, while dlopen(3) holds the dynamic linker's lock.
 * The thread makes calls that the program has not made yet. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void* calls(void* unused) {
  const struct timespec now = {0, 0};
  struct epoll_event event;
  struct pollfd none;
  sigset_t set;
  stack_t stack;
  int number;
  sigemptyset(&set);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGUSR2, SIG_DFL);
  sigaltstack(NULL, &stack);
  prctl(PR_GET_DUMPABLE);
  syscall(SYS_gettid);
  munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  ppoll(&none, 0, &now, &set);
  pselect(0, NULL, NULL, NULL, &now, &set);
  const int epoll = epoll_create1(0);
  epoll_pwait(epoll, &event, 1, 0, &set);
  close(epoll);
  close(signalfd(-1, &set, 0));
  sigtimedwait(&set, NULL, &now);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_kill(pthread_self(), SIGUSR1);
  sigwait(&set, &number);
  pthread_kill(pthread_self(), SIGUSR1);
  sigwaitinfo(&set, NULL);
  (void)!chroot("/nowhere");
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, calls, NULL) == 0) pthread_join(thread, NULL);
}
