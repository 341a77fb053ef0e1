// The C library's calls under names that ISO C leaves to programs (read, open, close, ...), for our shared
// libraries alone. A program may define such a name for something of its own, and the dynamic linker would
// bind our calls to it. Hidden, these bind where the library is linked: what is a system call is made, and of
// the rest the next definition behind the program's is called. pthread_*, dlsym and dlerror are left out:
// who defines them stands in front of the C library's on purpose.
//
// Only where the kernel has the C library's structures and words: elsewhere the C library's are called.
#undef _FORTIFY_SOURCE  // its read(2) would be defined here, too
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/next_call.h"

#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))

/// Ours under a name that a header has declared already.
#define PCTALLY_OWN(result, name, parameters)                                                        \
  extern "C" __attribute__((visibility("hidden"))) result own_##name parameters noexcept asm(#name); \
  extern "C" __attribute__((visibility("hidden"))) result own_##name parameters noexcept

using namespace pctally;

namespace {

/// The kernel's own answer: an error below 0.
long ask_kernel(long number, long a, long b, long c, long d, long e, long f) noexcept {
#if defined(__x86_64__)
  long result = number;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which __asm__("x8") = number;
  register long result __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  register long fifth __asm__("x4") = e;
  register long sixth __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(result)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return result;
#else
  register long which __asm__("a7") = number;
  register long result __asm__("a0") = a;
  register long second __asm__("a1") = b;
  register long third __asm__("a2") = c;
  register long fourth __asm__("a3") = d;
  register long fifth __asm__("a4") = e;
  register long sixth __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(result)
                   : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "memory");
  return result;
#endif
}

long call_with(long number, long a, long b, long c, long d, long e, long f) noexcept {
  constexpr long kMostError = 4095;
  const long result = ask_kernel(number, a, b, c, d, e, f);
  if (result >= 0 || result < -kMostError) return result;
  errno = static_cast<int>(-result);
  return -1;
}

long word(long value) noexcept { return value; }
long word(const void* value) noexcept { return reinterpret_cast<long>(value); }

template <typename... Arguments>
long call(long number, Arguments... arguments) noexcept {
  const long words[6] = {word(arguments)...};
  return call_with(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int call_int(long number, auto... arguments) noexcept { return static_cast<int>(call(number, arguments...)); }

void* call_for_address(long number, auto... arguments) noexcept {
  return reinterpret_cast<void*>(call(number, arguments...));
}

}  // namespace

/// What our calls of syscall(2) are linked to (--wrap): the name is exported, and a library of the program's
/// may have a function of that name behind ours.
PCTALLY_OWN(long, __wrap_syscall, (long number, long a, long b, long c, long d, long e, long f)) {
  return call_with(number, a, b, c, d, e, f);
}

PCTALLY_OWN(int, open, (const char* path, int flags, mode_t mode)) {
  return call_int(SYS_openat, AT_FDCWD, path, flags, mode);
}
PCTALLY_OWN(int, close, (int fd)) { return call_int(SYS_close, fd); }
PCTALLY_OWN(ssize_t, read, (int fd, void* to, size_t bytes)) { return call(SYS_read, fd, to, bytes); }
PCTALLY_OWN(ssize_t, write, (int fd, const void* from, size_t bytes)) {
  return call(SYS_write, fd, from, bytes);
}
PCTALLY_OWN(ssize_t, pread, (int fd, void* to, size_t bytes, off_t at)) {
  return call(SYS_pread64, fd, to, bytes, at);
}
PCTALLY_OWN(int, access, (const char* path, int mode)) {
  return call_int(SYS_faccessat, AT_FDCWD, path, mode);
}
PCTALLY_OWN(int, unlink, (const char* path)) { return call_int(SYS_unlinkat, AT_FDCWD, path, 0); }
PCTALLY_OWN(int, link, (const char* from, const char* to)) {
  return call_int(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
PCTALLY_OWN(int, rename, (const char* from, const char* to)) {
  return call_int(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
PCTALLY_OWN(int, mkdir, (const char* path, mode_t mode)) {
  return call_int(SYS_mkdirat, AT_FDCWD, path, mode);
}
PCTALLY_OWN(int, stat, (const char* path, void* to)) {
  return call_int(SYS_newfstatat, AT_FDCWD, path, to, 0);
}
PCTALLY_OWN(int, lstat, (const char* path, void* to)) {
  return call_int(SYS_newfstatat, AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}
PCTALLY_OWN(int, fstat, (int fd, void* to)) { return call_int(SYS_fstat, fd, to); }
PCTALLY_OWN(int, fchmod, (int fd, mode_t mode)) { return call_int(SYS_fchmod, fd, mode); }
PCTALLY_OWN(int, ftruncate, (int fd, off_t bytes)) { return call_int(SYS_ftruncate, fd, bytes); }
PCTALLY_OWN(int, flock, (int fd, int how)) { return call_int(SYS_flock, fd, how); }
PCTALLY_OWN(int, fcntl, (int fd, int command, void* argument)) {
  return call_int(SYS_fcntl, fd, command, argument);
}
PCTALLY_OWN(int, ioctl, (int fd, unsigned long request, void* argument)) {
  return call_int(SYS_ioctl, fd, request, argument);
}

PCTALLY_OWN(void*, mmap, (void* where, size_t bytes, int protection, int flags, int fd, off_t at)) {
  return call_for_address(SYS_mmap, where, bytes, protection, flags, fd, at);
}
PCTALLY_OWN(void*, mremap, (void* from, size_t bytes, size_t wanted, int flags, void* to)) {
  return call_for_address(SYS_mremap, from, bytes, wanted, flags, to);
}
PCTALLY_OWN(int, madvise, (void* from, size_t bytes, int advice)) {
  return call_int(SYS_madvise, from, bytes, advice);
}

PCTALLY_OWN(pid_t, getpid, ()) { return call_int(SYS_getpid); }
PCTALLY_OWN(pid_t, getppid, ()) { return call_int(SYS_getppid); }
PCTALLY_OWN(uid_t, geteuid, ()) { return static_cast<uid_t>(call(SYS_geteuid)); }
PCTALLY_OWN(int, getrlimit, (int which, void* to)) { return call_int(SYS_prlimit64, 0, which, nullptr, to); }
PCTALLY_OWN(int, getrusage, (int who, void* to)) { return call_int(SYS_getrusage, who, to); }
PCTALLY_OWN(int, uname, (void* to)) { return call_int(SYS_uname, to); }
PCTALLY_OWN(int, sched_yield, ()) { return call_int(SYS_sched_yield); }
PCTALLY_OWN(int, clock_getres, (clockid_t clock, timespec* to)) {
  return call_int(SYS_clock_getres, clock, to);
}
PCTALLY_OWN(ssize_t, getrandom, (void* to, size_t bytes, unsigned flags)) {
  return call(SYS_getrandom, to, bytes, flags);
}

PCTALLY_OWN(int, socket, (int family, int type, int protocol)) {
  return call_int(SYS_socket, family, type, protocol);
}
PCTALLY_OWN(int, bind, (int fd, const void* name, unsigned bytes)) {
  return call_int(SYS_bind, fd, name, bytes);
}
PCTALLY_OWN(int, connect, (int fd, const void* name, unsigned bytes)) {
  return call_int(SYS_connect, fd, name, bytes);
}
PCTALLY_OWN(int, listen, (int fd, int most)) { return call_int(SYS_listen, fd, most); }
PCTALLY_OWN(int, accept4, (int fd, void* name, unsigned* bytes, int flags)) {
  return call_int(SYS_accept4, fd, name, bytes, flags);
}
PCTALLY_OWN(int, getsockopt, (int fd, int level, int option, void* to, unsigned* bytes)) {
  return call_int(SYS_getsockopt, fd, level, option, to, bytes);
}
PCTALLY_OWN(ssize_t, send, (int fd, const void* from, size_t bytes, int flags)) {
  return call(SYS_sendto, fd, from, bytes, flags, nullptr, 0);
}
PCTALLY_OWN(ssize_t, recv, (int fd, void* to, size_t bytes, int flags)) {
  return call(SYS_recvfrom, fd, to, bytes, flags, nullptr, nullptr);
}
PCTALLY_OWN(int, pipe2, (int* fds, int flags)) { return call_int(SYS_pipe2, fds, flags); }
PCTALLY_OWN(int, poll, (void* fds, unsigned long count, int timeout_ms)) {
  timespec timeout{timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return call_int(SYS_ppoll, fds, count, timeout_ms < 0 ? nullptr : &timeout, nullptr, 0);
}

// What is no system call, or more than one.
namespace {

constinit NextCall<int(clockid_t, timespec*)> g_clock_gettime("clock_gettime");
constinit NextCall<int(int, off_t, off_t)> g_posix_fallocate("posix_fallocate");
constinit NextCall<long(int)> g_sysconf("sysconf");
constinit NextCall<unsigned long(unsigned long)> g_getauxval("getauxval");
constinit NextCall<char*(const char*)> g_secure_getenv("secure_getenv");
constinit NextCall<int(const char*, const char*, int)> g_setenv("setenv");
constinit NextCall<int(const char*)> g_unsetenv("unsetenv");
using EachObject = int(int (*)(dl_phdr_info*, size_t, void*), void*);
constinit NextCall<EachObject> g_dl_iterate_phdr("dl_iterate_phdr");
constinit NextCall<int(sigset_t*)> g_sigemptyset("sigemptyset"), g_sigfillset("sigfillset");
constinit NextCall<int(sigset_t*, int)> g_sigaddset("sigaddset"), g_sigdelset("sigdelset");
constinit NextCall<int(const sigset_t*, int)> g_sigismember("sigismember");
constinit NextCall<int(sigset_t*, const sigset_t*, const sigset_t*)> g_sigorset("sigorset");

__attribute__((constructor)) void find_calls() noexcept {
  find_all(g_clock_gettime, g_posix_fallocate, g_sysconf, g_getauxval, g_secure_getenv, g_setenv, g_unsetenv,
           g_dl_iterate_phdr, g_sigemptyset, g_sigfillset, g_sigaddset, g_sigdelset, g_sigismember,
           g_sigorset);
}

}  // namespace

PCTALLY_OWN(int, clock_gettime, (clockid_t clock, timespec* to)) { return g_clock_gettime.get()(clock, to); }
PCTALLY_OWN(int, posix_fallocate, (int fd, off_t at, off_t bytes)) {
  return g_posix_fallocate.get()(fd, at, bytes);
}
PCTALLY_OWN(long, sysconf, (int name)) { return g_sysconf.get()(name); }
PCTALLY_OWN(unsigned long, getauxval, (unsigned long type)) { return g_getauxval.get()(type); }
PCTALLY_OWN(char*, secure_getenv, (const char* name)) { return g_secure_getenv.get()(name); }
PCTALLY_OWN(int, setenv, (const char* name, const char* value, int replace)) {
  return g_setenv.get()(name, value, replace);
}
PCTALLY_OWN(int, unsetenv, (const char* name)) { return g_unsetenv.get()(name); }
PCTALLY_OWN(int, dl_iterate_phdr, (int (*with)(dl_phdr_info*, size_t, void*), void* argument)) {
  return g_dl_iterate_phdr.get()(with, argument);
}
PCTALLY_OWN(int, sigemptyset, (sigset_t * set)) { return g_sigemptyset.get()(set); }
PCTALLY_OWN(int, sigfillset, (sigset_t * set)) { return g_sigfillset.get()(set); }
PCTALLY_OWN(int, sigaddset, (sigset_t * set, int signal)) { return g_sigaddset.get()(set, signal); }
PCTALLY_OWN(int, sigdelset, (sigset_t * set, int signal)) { return g_sigdelset.get()(set, signal); }
PCTALLY_OWN(int, sigismember, (const sigset_t* set, int signal)) { return g_sigismember.get()(set, signal); }
PCTALLY_OWN(int, sigorset, (sigset_t * to, const sigset_t* one, const sigset_t* other)) {
  return g_sigorset.get()(to, one, other);
}

#else

/// Our calls of syscall(2): see above.
extern "C" __attribute__((visibility("hidden"))) long __wrap_syscall(long number, long a, long b, long c,
                                                                     long d, long e, long f) noexcept {
  static constinit pctally::NextCall<long(long, ...)> next("syscall");
  return next.get()(number, a, b, c, d, e, f);
}

#endif
