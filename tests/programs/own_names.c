/* own_names SECONDS [FILE ENGINE]: works in a thread; with FILE and where it is linked with the library,
 * profiles itself there. All names of the C library that ISO C leaves to programs, as far as code of ours
 * could call them, are functions of its own, which must never be called. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef WITH_LIBRARY
#include "pctally/pctally.h"
#endif

#define OWN(name)                                          \
  void own_##name(void) __asm__(#name);                    \
  __attribute__((noinline, used)) void own_##name(void) {  \
    fputs("the program's " #name " was called\n", stderr); \
    abort();                                               \
  }
/* clang-format off */
/* Files. */
OWN(access) OWN(chmod) OWN(close) OWN(dup) OWN(dup2) OWN(dup3) OWN(faccessat) OWN(fchmod) OWN(fcntl)
OWN(flock) OWN(fstat) OWN(fstatat) OWN(fsync) OWN(ftruncate) OWN(getcwd) OWN(ioctl) OWN(link) OWN(lseek)
OWN(lstat) OWN(mkdir) OWN(open) OWN(openat) OWN(pipe) OWN(pipe2) OWN(poll) OWN(posix_fallocate) OWN(ppoll)
OWN(pread) OWN(pselect) OWN(pwrite) OWN(read) OWN(readlink) OWN(readv) OWN(rename) OWN(renameat) OWN(select)
OWN(stat) OWN(statx) OWN(unlink) OWN(unlinkat) OWN(write) OWN(writev)
/* Sockets. */
OWN(accept) OWN(accept4) OWN(bind) OWN(connect) OWN(getsockopt) OWN(listen) OWN(recv) OWN(send)
OWN(setsockopt) OWN(shutdown) OWN(socket)
/* Memory. */
OWN(madvise) OWN(mmap) OWN(mprotect) OWN(mremap) OWN(msync) OWN(munmap)
/* Processes and the system. */
OWN(chroot) OWN(clone) OWN(execv) OWN(execve) OWN(execvp) OWN(execvpe) OWN(fork) OWN(getauxval) OWN(getegid)
OWN(geteuid) OWN(getgid) OWN(getpid) OWN(getppid) OWN(getrandom) OWN(getrlimit) OWN(getrusage) OWN(gettid)
OWN(gettimeofday) OWN(getuid) OWN(kill) OWN(prctl) OWN(sched_yield) OWN(secure_getenv) OWN(setenv)
OWN(setns) OWN(setrlimit) OWN(syscall) OWN(sysconf) OWN(tgkill) OWN(uname) OWN(unsetenv) OWN(wait4)
OWN(waitpid) OWN(dl_iterate_phdr) OWN(dlclose)
/* Clocks and signals. */
OWN(clock_getres) OWN(clock_gettime) OWN(clock_nanosleep) OWN(epoll_pwait) OWN(epoll_pwait2) OWN(nanosleep)
OWN(sigaction) OWN(sigaddset) OWN(sigaltstack) OWN(sigblock) OWN(sigdelset) OWN(sigemptyset) OWN(sigfillset)
OWN(sighold) OWN(sigignore) OWN(sigismember) OWN(siglongjmp) OWN(signalfd) OWN(sigorset) OWN(sigpause)
OWN(sigpending) OWN(sigprocmask) OWN(sigqueue) OWN(sigrelse) OWN(sigset) OWN(sigsetmask) OWN(sigsuspend)
OWN(sigtimedwait) OWN(sigwait) OWN(sigwaitinfo) OWN(timer_create) OWN(timer_delete) OWN(timer_settime)
OWN(usleep)

volatile unsigned long turns;
/* clang-format on */
static double seconds;

/* clock(3) is ISO C's. */
__attribute__((noinline)) static void* work(void* unused) {
  const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  do
    for (int i = 0; i < 100000; ++i) ++turns;
  while (clock() < end);
  return unused;
}

int main(int count, char** words) {
  pthread_t thread;
  seconds = atof(words[1]);
#ifdef WITH_LIBRARY
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  if (count != 4) return 2;
  options.path = words[2];
  options.engine = words[3];
  options.flags = PCTALLY_OVERWRITE | PCTALLY_CALLERS;
  if (pctally_start(&options) != 0) return puts(pctally_error()), 1;
#else
  if (count != 2) return 2;
#endif
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_join(thread, NULL);
#ifdef WITH_LIBRARY
  if (pctally_refresh() != 0 || pctally_stop() != 0) return puts(pctally_error()), 1;
#endif
  return puts("none was called") < 0;
}
