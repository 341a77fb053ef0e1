#include "tool/record/add_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/time_ns.h"
#include "base/unique_fd.h"
#include "histread/names_bytes.h"
#include "tool/message.h"
#include "tool/profile_names.h"

namespace pctally {
namespace {

constexpr uint64_t kPatienceNs = 1'000'000'000;
constexpr uint64_t kLastStartNs = 700'000'000;  ///< of an object

/// How the process that adds names ends.
enum Outcome : int { kAdded = 0, kSomeAdded = 1, kFailed = 2 };

constexpr int kEnding[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kEnding) sigaddset(&set, signal);
  return set;
}

bool is_told_to_end() {
  sigset_t waiting;
  sigpending(&waiting);
  for (const int signal : kEnding)
    if (sigismember(&waiting, signal) == 1) return true;
  return false;
}

/// In the child.
Outcome name_and_write(int fd, const Profile& profile, const OpenSymbolizer& open_object, uint64_t until_ns) {
  const ProfileNames names = names_of_profile(profile, open_object, until_ns);
  if (!names.section.empty() && !write_names_bytes(fd, names.section)) return kFailed;
  return names.late == 0 ? kAdded : kSomeAdded;
}

[[noreturn]] void run_child(int fd, const Profile& profile, const OpenSymbolizer& open_object,
                            uint64_t until_ns) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  for (const int signal : kEnding) ::signal(signal, SIG_DFL);
  ::signal(SIGXFSZ, SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  _exit(name_and_write(fd, profile, open_object, until_ns));
}

struct Ended {
  int status = W_EXITCODE(kFailed, 0);
  uint64_t cpu_ns = 0;
};

/// Until the child has ended. A child that takes too long, or that must not go on, is
/// killed.
Ended wait_for(pid_t child, int signals, const std::function<void()>& handle, uint64_t until_ns) {
  const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  for (bool killed = !ended.valid();;) {
    if (killed) kill(child, SIGKILL);
    pollfd events[] = {{ended.get(), POLLIN, 0}, {signals, POLLIN, 0}};
    const uint64_t now = monotonic_ns();
    const int wait_ms = killed ? -1 : static_cast<int>((until_ns - std::min(until_ns, now)) / 1'000'000);
    if (ended.valid()) poll(events, 2, wait_ms);
    if (!ended.valid() || (events[0].revents & POLLIN) != 0) break;
    killed = killed || is_told_to_end() || monotonic_ns() >= until_ns;
    if ((events[1].revents & POLLIN) != 0) handle();
  }
  Ended result;
  rusage usage{};
  while (wait4(child, &result.status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.cpu_ns = to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
  return result;
}

/// What a child that did not come to its end has left behind the pool.
void cut_back(int fd, off_t size) {
  const auto names = read_names_bytes(fd);
  if (names && names->empty()) (void)!ftruncate(fd, size);
}

void say(const Ended& ended, const std::string& name) {
  const int status = ended.status;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kAdded)
    return explain("names added: {:.1f} ms of CPU time", 1e-6 * static_cast<double>(ended.cpu_ns));
  const bool some = WIFEXITED(status) && WEXITSTATUS(status) == kSomeAdded;
  inform("{} names are in {}: adding them was cut short; pctally archive adds them", some ? "not all" : "no",
         name);
}

}  // namespace

void add_names(const RecordedFile& file, const Profile& profile, int signals,
               const std::function<void()>& handle, const OpenSymbolizer& open_object) {
  const UniqueFd fd(open(file.path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status;
  if (!fd.valid() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  handle();  // what has ended the recording
  const uint64_t now = monotonic_ns();
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) run_child(fd.get(), profile, open_object, now + kLastStartNs);
  const Ended ended = wait_for(child, signals, handle, now + kPatienceNs);
  if (!WIFEXITED(ended.status)) cut_back(fd.get(), status.st_size);
  say(ended, file.name);
}

void add_names(const RecordedFile& file, const Profile& profile, const OpenSymbolizer& open_object) {
  const sigset_t ending = ending_signals();
  const UniqueFd signals(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  add_names(
      file, profile, signals.get(),
      [&signals] {
        signalfd_siginfo info;
        while (read(signals.get(), &info, sizeof info) == sizeof info) {
        }
      },
      open_object);
}

}  // namespace pctally
