/* edges SCENE [WORD]: what few programs do, and what a profiler inside them must not make worse. Each scene
 * ends by itself within a second or two; SIGALRM ends one that hangs. $EDGES_IDLE: no time is spent. */
#include "spin.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif
enum { kDispatch = 59, kSkipped = 77 }; /* PR_SET_SYSCALL_USER_DISPATCH, younger than some headers */

static int g_idle;

__attribute__((noinline)) void work(unsigned milliseconds) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (g_idle ? 0 : milliseconds * 1000000ull);
  uint64_t value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = turn(20000, value);
}

/* Without any system call, the clock's included. */
__attribute__((noinline)) void work_without_calls(void) { turn(g_idle ? 1 : 80000000, 0); }

static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

/* 0 where the filter is in: it answers call `number` so, and allows all others. */
static long install(long number, unsigned answer, const char* way) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  if (strcmp(way, "listener") == 0)
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0 ? -1
                                                                                                         : 0;
  if (strcmp(way, "number") == 0)
    return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A library whose constructor starts a thread, and waits for its end under the dynamic linker's lock. */
static int load(const char* path) {
  if (dlopen(path, RTLD_NOW) == NULL) return puts(dlerror()), 1;
  return puts("lived"), 0;
}

/* SECCOMP_MODE_STRICT behind a full mask: read, write, exit and rt_sigreturn are all that is left. */
static int strict(const char* blocks) {
  if (strcmp(blocks, "blocked") == 0) block_all();
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return kSkipped;
  work_without_calls();
  syscall(SYS_write, 1, "lived\n", 6);
  return (int)syscall(SYS_exit, 0);
}

/* A filter that kills for rt_sigprocmask, and all signals blocked; ends as usual. */
static int unmasked(void) {
  block_all();
  if (install(SYS_rt_sigprocmask, SECCOMP_RET_KILL_PROCESS, "call") != 0) return kSkipped;
  work(200);
  return puts("lived"), 0;
}

/* A filter behind which no handler can return, as those of sandboxes that expect no signal. "refused": the
   kernel takes none of three that are none. */
static int no_return(const char* way) {
  struct sock_fprog none = {4, (struct sock_filter*)8}, empty = {0, NULL};
  if (strcmp(way, "refused") == 0) {
    const void* refused[] = {(void*)8, &none, &empty};
    for (int i = 0; i < 3; ++i)
      if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, refused[i]) == 0) return puts("installed"), 1;
  } else if (strcmp(way, "second") == 0 && install(SYS_acct, SECCOMP_RET_KILL_PROCESS, "call") != 0) {
    return kSkipped;
  } else if (install(SYS_rt_sigreturn, SECCOMP_RET_KILL_PROCESS, way) != 0) {
    return kSkipped;
  }
  work(200);
  return puts("lived"), 0;
}

/* Dies of `signal` behind a filter that lets nobody set an action. */
static int crash(int signal) {
  volatile char* memory = NULL;
  if (signal == SIGBUS) { /* behind the end of a file */
    FILE* file = tmpfile();
    memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
  }
  if (install(SYS_rt_sigaction, SECCOMP_RET_ERRNO | EPERM, "call") != 0) return kSkipped;
  return signal == SIGBUS ? memory[0] : ((*memory = 1), 0);
}

static void* in_thread(void* unused) {
  work(50);
  return unused;
}

/* A filter that kills for timer_create(2), come in by an unusual way; then a thread. */
static int filtered(const char* way) {
  pthread_t thread;
  if (install(SYS_timer_create, SECCOMP_RET_KILL_PROCESS, way) != 0) return kSkipped;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
  return puts("lived"), 0;
}

static int blocked_in_handler;

__attribute__((noinline)) void work_in_handler(void) { work(300); }

static void count_mask(int number) {
  sigset_t mask;
  (void)number;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int signal = 1; signal < 32; ++signal) blocked_in_handler += sigismember(&mask, signal);
  work_in_handler();
}

struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void* restorer;
  uint64_t mask;
};

/* Handlers with all signals in their mask, and what the program then sees of them. */
static int masked_handler(const char* way) {
  const int by_number = strcmp(way, "number") == 0;
  struct sigaction action = {.sa_handler = count_mask}, found = {.sa_handler = NULL};
  int in_mask = 0;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGTRAP); /* sigprocmask(3) never shows it */
  if (by_number) {
    struct kernel_action raw;
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, &raw, 8);
    sigaction(SIGUSR1, &action, NULL);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, 8);
    raw.mask = ~0ull & ~(1ull << (SIGTRAP - 1));
    if (syscall(SYS_rt_sigaction, SIGUSR1, &raw, NULL, 8) != 0) return 1;
    memset(&raw, 0, sizeof raw);
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, 8);
    printf("%d ", __builtin_popcountll(raw.mask));
  } else {
    sigaction(SIGUSR1, &action, NULL);
  }
  sigaction(SIGUSR1, NULL, &found);
  for (int signal = 1; signal < 65; ++signal) in_mask += sigismember(&found.sa_mask, signal) == 1;
  for (int i = 0; i < 2; ++i) raise(SIGUSR1);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = SIG_DFL}, &found);
  for (int signal = 1; signal < 65; ++signal) in_mask += sigismember(&found.sa_mask, signal) == 1;
  sigaction(SIGUSR1, NULL, &found);
  for (int signal = 1; signal < 65; ++signal) in_mask += 1000 * (sigismember(&found.sa_mask, signal) == 1);
  printf("%d in the masks, %d blocked\n", in_mask, blocked_in_handler);
  return 0;
}

static void end_thread(int number) {
  (void)number;
  pthread_exit(NULL);
}

static void end_process(int number) {
  (void)number;
  exit(0);
}

static void* waits(void* unused) {
  for (;;) pause();
  return unused;
}

/* A signal ends a thread about when it begins. */
static int ended_threads(int times) {
  signal(SIGUSR1, end_thread);
  for (int i = 0; i < times; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    turn((uint64_t)(i * 37) % 60000, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
  }
  return puts("lived"), 0;
}

/* The same for a process. */
static int ended_processes(int times) {
  signal(SIGUSR1, end_process);
  for (int i = 0; i < times; ++i) {
    const pid_t child = fork();
    int status = 0;
    pthread_t thread;
    if (child == 0) {
      alarm(10);
      pthread_create(&thread, NULL, waits, NULL);
      turn((uint64_t)(i * 37) % 60000, 0);
      pthread_kill(thread, SIGUSR1);
      waits(NULL);
    }
    waitpid(child, &status, 0);
    if (status != 0) return printf("child %d ended with %x\n", i, (unsigned)status), 1;
  }
  return puts("lived"), 0;
}

/* A signal that is sent waits while it is blocked, SIGSEGV too. */
static int pending(int signal) {
  sigset_t mask;
  const struct timespec now = {0, 0};
  sigfillset(&mask);
  block_all();
  kill(getpid(), signal);
  work(100);
  return printf("got %d\n", sigtimedwait(&mask, NULL, &now)), 0;
}

static volatile char refuses;
static volatile int refused;

static void on_refused(int number) {
  (void)number;
  refuses = 0;
  ++refused;
}

/* Syscall user dispatch, as Wine has it around foreign code: no system call may come from there, be it the
 * return of a handler; then code that is sampled again. */
static int dispatch(const char* way) {
  const int by_number = strcmp(way, "number") == 0;
  signal(SIGSYS, on_refused);
  if ((by_number ? syscall(SYS_prctl, kDispatch, 1, 0, 0, &refuses) : prctl(kDispatch, 1, 0, 0, &refuses)) !=
      0)
    return kSkipped;
  refuses = 1;
  work_without_calls();
  refuses = 0;
  if (by_number)
    syscall(SYS_prctl, kDispatch, 0, 0, 0, 0);
  else
    prctl(kDispatch, 0, 0, 0, 0);
  work(200);
  return printf("%d refused\n", (int)refused), 0;
}

enum { kStack = 16 << 10 };

static void on_small_stack(void* (*routine)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  char* memory = mmap(NULL, kStack + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + 4096, kStack, PROT_READ | PROT_WRITE); /* nobody may touch the page below it */
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, memory + 4096, kStack) != 0)
    exit(kSkipped); /* too small for this C library */
  if (pthread_create(&thread, &attributes, routine, argument) != 0) exit(1);
  pthread_join(thread, NULL);
}

/* Leaves no room for a handler, and sets a mask, or has an alternate stack for a while. */
static void* sets_mask(void* alternate) {
  volatile char room[8 << 10];
  sigset_t none;
  for (size_t i = 0; i < sizeof room; i += 64) room[i] = 1;
  if (alternate != NULL) {
    stack_t stack = {.ss_sp = alternate, .ss_size = 64 << 10};
    sigaltstack(&stack, NULL);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
  } else {
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
  }
  work(60);
  return NULL;
}

static int small_mask(const char* way) {
  on_small_stack(sets_mask, strcmp(way, "alternate") == 0 ? malloc(64 << 10) : NULL);
  return puts("lived"), 0;
}

__attribute__((noinline)) static void work_without_room(void) {
  volatile char room[8 << 10];
  for (size_t i = 0; i < sizeof room; i += 64) room[i] = 1;
  work(60);
  _exit(0);
}

static void* forks(void* unused) {
  const pid_t child = fork();
  int status = 0;
  if (child == 0) work_without_room();
  waitpid(child, &status, 0);
  printf("the child's status is %d\n", status);
  return unused;
}

static int small_fork(void) {
  on_small_stack(forks, NULL);
  return puts("lived"), 0;
}

static void* says_errno(void* unused) {
  printf("%d in a thread\n", errno);
  return unused;
}

/* No timer is to be had. */
static int kept_errno(void) {
  const struct rlimit none = {0, 0};
  pthread_t thread;
  setrlimit(RLIMIT_SIGPENDING, &none);
  if (pthread_create(&thread, NULL, says_errno, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  fflush(stdout);
  errno = 55;
  const pid_t child = fork();
  if (child == 0) {
    printf("%d in a child\n", errno);
    return 0;
  }
  waitpid(child, NULL, 0);
  return 0;
}

static void works_at_end(void* unused) {
  (void)unused;
  work(150);
}

static pthread_key_t g_key;

static void* ends_slowly(void* unused) {
  pthread_setspecific(g_key, &g_key);
  return unused;
}

static int slow_ends(void) {
  pthread_t thread;
  if (pthread_key_create(&g_key, works_at_end) != 0) return 1;
  if (pthread_create(&thread, NULL, ends_slowly, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return puts("ended"), 0;
}

static void* g_alternate;

static void frees_and_works(void* unused) {
  (void)unused;
  free(g_alternate); /* unmapped within the C library */
  work(100);
}

static void* on_alternate_stack(void* unused) {
  const size_t bytes = 256 << 10;
  const stack_t stack = {.ss_sp = g_alternate = malloc(bytes), .ss_size = bytes};
  sigaltstack(&stack, NULL);
  pthread_setspecific(g_key, "");
  work(20);
  return unused;
}

/* A destructor of the thread's data frees its alternate stack and works on. */
static int freed_at_end(void) {
  pthread_t thread;
  if (pthread_key_create(&g_key, frees_and_works) != 0) return 1;
  if (pthread_create(&thread, NULL, on_alternate_stack, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  return puts("ended"), 0;
}

static void first_handler(int number) { printf("the first handler has %d\n", number == SIGUSR1); }
static void second_handler(int number) { printf("the second handler has %d\n", number == SIGUSR1); }

/* An action on an alternate stack of 8 KiB is asked for by the system call's number, and set again so. */
static int raw_action(void) {
#if defined(__x86_64__) || defined(__aarch64__)
  static char memory[8 << 10];
  const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  struct {
    void (*handler)(int);
    unsigned long flags;
    void* restorer;
    uint64_t mask;
  } found;
  struct sigaction action = {.sa_handler = first_handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  if (syscall(SYS_rt_sigaction, SIGUSR1, NULL, &found, sizeof found.mask) != 0) return 1;
  printf("%d %lx %lx\n", found.handler == first_handler, found.flags, (unsigned long)found.mask);
  action.sa_handler = second_handler;
  sigaction(SIGUSR1, &action, NULL);
  if (syscall(SYS_rt_sigaction, SIGUSR1, &found, NULL, sizeof found.mask) != 0) return 1;
  raise(SIGUSR1);
  return 0;
#else
  return kSkipped;
#endif
}

static void on_trap(int number) {
  (void)number;
  (void)!write(1, "trapped\n", 8);
}

static void* breaks(void* unused) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  if (sigismember(&mask, SIGTRAP)) puts("SIGTRAP is blocked");
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  raise(SIGTRAP);
#endif
  return unused;
}

static int breakpoint(void) {
  signal(SIGTRAP, on_trap);
  on_small_stack(breaks, NULL);
  return puts("lived"), 0;
}

#define TELL(call)                                                               \
  do {                                                                           \
    errno = 0;                                                                   \
    const long result = (long)(call);                                            \
    printf("%s = %ld, %s\n", #call, result, result < 0 ? strerror(errno) : "-"); \
  } while (0)

/* What the kernel answers where memory is no memory. */
static int bad_pointers(void) {
  sigset_t* volatile null = NULL;
  const struct timespec now = {0, 0};
  struct epoll_event event;
  char* const good = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const bad = good + 4096;
  const int epoll = epoll_create1(0);
  if (mprotect(bad, 4096, PROT_NONE) != 0) return 1;
  TELL(sigwaitinfo(null, NULL));
  TELL(sigtimedwait(bad, NULL, &now));
  TELL(sigsuspend(bad));
  TELL(epoll_pwait(epoll, &event, 1, 0, bad));
  TELL(sigaltstack(bad, NULL));
  TELL(sigaltstack((void*)((char**)bad - 1), NULL));
  TELL(syscall(SYS_rt_sigaction, SIGUSR1, bad, NULL, 8));
  TELL(syscall(SYS_rt_sigaction, SIGBUS, bad, NULL, 8));
  TELL(syscall(SYS_rt_sigaction, SIGUSR1, NULL, bad, 8));
  TELL(syscall(SYS_rt_sigaction, SIGBUS, NULL, bad, 8));
  TELL(syscall(SYS_rt_sigaction, 99, NULL, NULL, 8));
  return 0;
}

static void* leaves(void* unused) {
  syscall(SYS_exit, 0);
  return unused;
}

/* More threads than there are records end by the bare exit(2); then one works. */
static int raw_exits(int times) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int i = 0; i < times; ++i) {
    if (pthread_create(&thread, &attributes, leaves, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  }
  return puts("lived"), 0;
}

int main(int count, char** words) {
  const char* scene = count > 1 ? words[1] : "";
  const char* word = count > 2 ? words[2] : "";
  alarm(120);
  g_idle = getenv("EDGES_IDLE") != NULL;
  if (strcmp(scene, "load") == 0) return load(word);
  if (strcmp(scene, "strict") == 0) return strict(word);
  if (strcmp(scene, "unmasked") == 0) return unmasked();
  if (strcmp(scene, "no_return") == 0) return no_return(word);
  if (strcmp(scene, "crash") == 0) return crash(atoi(word));
  if (strcmp(scene, "filtered") == 0) return filtered(word);
  if (strcmp(scene, "masked_handler") == 0) return masked_handler(word);
  if (strcmp(scene, "ended_threads") == 0) return ended_threads(atoi(word));
  if (strcmp(scene, "ended_processes") == 0) return ended_processes(atoi(word));
  if (strcmp(scene, "pending") == 0) return pending(atoi(word));
  if (strcmp(scene, "dispatch") == 0) return dispatch(word);
  if (strcmp(scene, "small_mask") == 0) return small_mask(word);
  if (strcmp(scene, "raw_action") == 0) return raw_action();
  if (strcmp(scene, "slow_ends") == 0) return slow_ends();
  if (strcmp(scene, "freed_at_end") == 0) return freed_at_end();
  if (strcmp(scene, "small_fork") == 0) return small_fork();
  if (strcmp(scene, "kept_errno") == 0) return kept_errno();
  if (strcmp(scene, "breakpoint") == 0) return breakpoint();
  if (strcmp(scene, "bad_pointers") == 0) return bad_pointers();
  if (strcmp(scene, "raw_exits") == 0) return raw_exits(atoi(word));
  return 2;
}
