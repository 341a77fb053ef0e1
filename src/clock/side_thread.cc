#include "clock/side_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "clock/thread_list.h"

namespace pctally {
namespace {

constexpr size_t kStackBytes = 256 << 10;  // the program's static thread-local storage lies in it

/// The main thread has ended by pthread_exit(3): it stays in the list until the process ends.
bool main_thread_ended() noexcept {
  char path[64], text[512] = {};
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(getpid()));
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || read(fd.get(), text, sizeof text - 1) <= 0) return false;
  const char* name_end = strrchr(text, ')');
  return name_end != nullptr && strncmp(name_end, ") Z", 3) == 0;
}

/// The C library ends a process when its last thread returns. It counts this one too.
void leave_if_alone() noexcept {
  if (count_threads() == 2 && main_thread_ended()) exit(0);
}

}  // namespace

bool SideThread::wait(uint64_t ns) noexcept {
  timespec time{static_cast<time_t>(ns / 1000000000u), static_cast<long>(ns % 1000000000u)};
  syscall(SYS_futex, &ended_, FUTEX_WAIT_PRIVATE, 0, &time, nullptr, 0);
  return __atomic_load_n(&ended_, __ATOMIC_ACQUIRE) == 0;
}

void* SideThread::main(void* self) noexcept {
  auto* side = static_cast<SideThread*>(self);
  prctl(PR_SET_NAME, "pctally");
  while (side->wait(side->work_(side->subject_))) leave_if_alone();
  return nullptr;
}

Result<void> SideThread::start(Work work, void* subject) noexcept {
  work_ = work;
  subject_ = subject;
  ended_ = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&thread_, &attributes, main, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) return fail(error, "pthread_create: %s", strerror(error));
  running_ = true;
  return {};
}

void SideThread::stop() noexcept {
  if (!running_) return;
  running_ = false;
  __atomic_store_n(&ended_, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &ended_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  if (pthread_equal(thread_, pthread_self()) == 0) pthread_join(thread_, nullptr);
}

}  // namespace pctally
