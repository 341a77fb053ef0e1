/* interrupted_calls CALL TIMES [threads]: waits in `CALL` so many times. A child of its own sends SIGUSR1
 * whenever the main thread sleeps in it, as /proc says. Its handler has no SA_RESTART, so each wait has to
 * end with EINTR, after the handler ran once, in the main thread. `restart`: the handler has SA_RESTART, and
 * each wait has to go on until a child ends. With `threads` another thread is there, which would take the
 * signal too. Prints how often all was as it has to be, and how often not; a wait that nothing has ended
 * after 2 s is one of these. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kChildren = 300, kFiles = 4000 };

static volatile sig_atomic_t came, elsewhere;
static int asked[2], never[2];

static void on_signal(int number) {
  (void)number;
  came++;
  if (syscall(SYS_gettid) != getpid()) elsewhere++;
}

static void* sleeps(void* unused) {
  for (;;) sleep(1000);
  return unused;
}

/* Whether the thread sleeps in this system call. */
static int is_in(const char* file, long call) {
  char text[256] = "";
  const int fd = open(file, O_RDONLY);
  const ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  return bytes <= 0 ? -1 : text[0] != 'r' && atol(text) == call;
}

/* A byte that comes asks for a signal; 'c' for the end of a child instead, after a signal. */
static void send_signals(pid_t to, long call, const int* children) {
  char file[64], what;
  snprintf(file, sizeof file, "/proc/%d/syscall", to);
  for (int ended = 0; read(asked[0], &what, 1) == 1;) {
    for (int tries = 0, in = 0; in == 0; ++tries) {
      in = is_in(file, call);
      if (in < 0) _exit(0);
      if (in == 0) usleep(tries < 1000 ? 20 : 1000);
    }
    kill(to, SIGUSR1);
    if (what == 'c') usleep(500), kill(children[ended++], SIGKILL);
    /* the next byte comes when the wait has ended */
    struct pollfd next = {asked[0], POLLIN, 0};
    if (poll(&next, 1, 2000) == 0) printf("a wait goes on\n"), fflush(stdout), kill(to, SIGKILL), _exit(1);
  }
  _exit(0);
}

static struct pollfd files[kFiles];

static int wait_in(const char* call, const sigset_t* open_mask) {
  static struct epoll_event event;
  static int set = -1;
  char byte;
  if (strcmp(call, "read") == 0) return (int)read(never[0], &byte, 1);
  if (strcmp(call, "wait4") == 0 || strcmp(call, "restart") == 0) return waitpid(-1, NULL, 0);
  if (strcmp(call, "sigsuspend") == 0) return sigsuspend(open_mask);
  if (strcmp(call, "ppoll") == 0) return ppoll(files, kFiles, NULL, open_mask);
  if (strcmp(call, "pselect") == 0) return pselect(0, NULL, NULL, NULL, NULL, open_mask);
  if (set < 0) set = epoll_create1(0);
  return epoll_pwait(set, &event, 1, -1, open_mask);
}

int main(int argc, char** argv) {
  const char* call = argv[1];
  const int times = atoi(argv[2]), restart = strcmp(call, "restart") == 0;
  const int masked = strcmp(call, "read") != 0 && strcmp(call, "wait4") != 0 && !restart;
  const long numbers[] = {SYS_read,  SYS_wait4,    SYS_wait4,      SYS_rt_sigsuspend,
                          SYS_ppoll, SYS_pselect6, SYS_epoll_pwait};
  const char* names[] = {"read", "wait4", "restart", "sigsuspend", "ppoll", "pselect", "epoll_pwait"};
  static int children[kChildren];
  int right = 0, wrong = 0, which = 0;
  while (which < 6 && strcmp(names[which], call) != 0) which++;
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
  setrlimit(RLIMIT_NOFILE, &limit);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = restart ? SA_RESTART : 0;
  sigaction(SIGUSR1, &action, NULL);
  if (pipe(asked) != 0 || pipe(never) != 0) return 2;
  for (int i = 0; i < kFiles; ++i) files[i] = (struct pollfd){never[0], POLLIN, 0};
  /* they make a wait take long enough in the kernel that a tick often comes due there */
  for (int i = 0; i < kChildren && !masked; ++i)
    if ((children[i] = fork()) == 0) {
      close(never[1]);
      char byte;
      _exit((int)read(never[0], &byte, 1));
    }
  const pid_t me = getpid();
  const pid_t sender = fork();
  if (sender == 0) {
    close(asked[1]), close(never[1]);
    send_signals(me, numbers[which], children);
  }
  sigset_t mask, open_mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  pthread_t thread;
  if (argc > 3) pthread_create(&thread, NULL, sleeps, NULL);
  sigprocmask(masked ? SIG_BLOCK : SIG_UNBLOCK, &mask, &open_mask);
  for (int i = 0; i < times; ++i) {
    came = 0;
    if (write(asked[1], restart ? "c" : "x", 1) != 1) return 2;
    const int result = wait_in(call, &open_mask);
    const int as_it_has_to_be = restart ? result > 0 : result == -1 && errno == EINTR;
    sigset_t after;
    sigprocmask(SIG_SETMASK, NULL, &after);
    if (as_it_has_to_be && came == 1 && elsewhere == 0 && sigismember(&after, SIGUSR1) == masked)
      right++;
    else
      wrong++;
    while (came == 0) usleep(100);
    elsewhere = 0;
  }
  printf("%d right, %d wrong\n", right, wrong);
  kill(sender, SIGKILL);
  for (int i = 0; i < kChildren && !masked; ++i) kill(children[i], SIGKILL);
  return 0;
}
