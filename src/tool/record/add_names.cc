#include "tool/record/add_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/time_ns.h"
#include "base/unique_fd.h"
#include "histread/names_bytes.h"
#include "perf/process_tree.h"
#include "recorder/signals.h"
#include "tool/profile_names.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

constexpr uint64_t kPatienceNs = kNsPerSecond;
constexpr int kDeathMs = 200;  ///< for a child that was killed to end
constexpr unsigned kMostFiles = 1 << 20;
constexpr uint64_t kLastStartNs = 700'000'000;  ///< of an object

/// How the process that adds names ends.
enum Outcome : int { kAdded = 0, kSomeAdded = 1, kFailed = 2 };

/// What the child reports of itself, in memory that it shares: its end may come late (close(2) asks a
/// file system, too).
class Progress {
 public:
  Progress()
      : page_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    restart();
  }
  ~Progress() {
    if (valid()) munmap(page_, sizeof(Shared));
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  [[nodiscard]] bool valid() const { return page_ != MAP_FAILED; }

  void restart() {
    if (valid()) *status() = {};
  }
  void reads(uint32_t executable) {
    if (valid()) __atomic_store_n(&status()->executable, executable, __ATOMIC_RELAXED);
  }
  void ended(Outcome outcome) {
    if (valid()) __atomic_store_n(&status()->outcome, outcome, __ATOMIC_RELEASE);
  }
  /// The object that it was at.
  [[nodiscard]] uint32_t executable() const {
    return __atomic_load_n(&status()->executable, __ATOMIC_RELAXED);
  }
  /// -1: it has not come to its end.
  [[nodiscard]] int outcome() const {
    return valid() ? __atomic_load_n(&status()->outcome, __ATOMIC_ACQUIRE) : -1;
  }

 private:
  struct Shared {
    uint32_t executable = 0;
    int outcome = -1;
  };
  [[nodiscard]] Shared* status() const { return static_cast<Shared*>(page_); }
  void* page_;
};

/// What the child is to do.
struct Naming {
  const Profile& profile;
  const OpenSymbolizer& open_object;
  uint64_t until_ns;              ///< no object is begun later
  std::optional<uint32_t> leave;  ///< an executable whose file system does not answer
};

/// In the child.
Outcome name_and_write(int fd, const Naming& naming, Progress* progress) {
  const auto may_open = [&naming, progress](uint32_t executable) {
    progress->reads(executable);
    return executable != naming.leave;
  };
  const Result<ProfileNames> names =
      names_of_profile(naming.profile, naming.open_object, naming.until_ns, may_open);
  if (!names || (!names->section.empty() && !write_names_bytes(fd, names->section))) return kFailed;
  return names->late == 0 ? kAdded : kSomeAdded;
}

/// Nobody who waits for the end of our output waits for a process that a dead file system holds.
void let_go_of_output() {
  const UniqueFd nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (nowhere.valid() && nowhere.get() != fd) dup2(nowhere.get(), fd);
}

[[noreturn]] void run_child(int fd, const Naming& naming, Progress* progress) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  let_go_of_output();
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  const sigset_t ending = ending_signals();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (sigismember(&ending, signal) == 1) ::signal(signal, SIG_DFL);
  ::signal(SIGXFSZ, SIG_IGN);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const Outcome outcome = name_and_write(fd, naming, progress);
  progress->ended(outcome);
  _exit(outcome);
}

struct Ended {
  int status = W_EXITCODE(kFailed, 0);
  uint64_t cpu_ns = 0;
  bool stuck = false;  ///< it is killed, but waits in the kernel for a file system
};

/// Until the child has ended. A child that takes too long, or that must not go on, is
/// killed. One that a dead file system holds in the kernel is left behind: it executes nothing any more.
Ended wait_for(pid_t child, int signals, const std::function<void()>& handle, uint64_t until_ns) {
  const UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  for (bool killed = !ended.valid();;) {
    if (killed) kill(child, SIGKILL);
    pollfd events[] = {{ended.get(), POLLIN, 0}, {signals, POLLIN, 0}};
    const uint64_t now = monotonic_ns();
    const int wait_ms = killed ? kDeathMs : to_poll_ms(until_ns - std::min(until_ns, now));
    const int ready = ended.valid() ? poll(events, 2, wait_ms) : 0;
    if (!ended.valid() || (events[0].revents & POLLIN) != 0) break;
    if (killed && ready == 0 && is_held_in_kernel(child)) return {.stuck = true};
    killed = killed || waiting_ending_signal() != 0 || monotonic_ns() >= until_ns;
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

bool add_names(const RecordedFile& file, const Profile& profile, int signals,
               const std::function<void()>& handle, const OpenSymbolizer& open_object) {
  const UniqueFd fd(open(file.path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status;
  if (!fd.valid() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  handle();  // what has ended the recording
  Naming naming{.profile = profile, .open_object = open_object, .until_ns = 0, .leave = {}};
  Progress progress;
  Ended ended;
  bool stuck = false;
  for (bool last = false;; last = true) {
    const uint64_t now = monotonic_ns();
    naming.until_ns = now + kLastStartNs;
    progress.restart();
    const pid_t child = fork();
    if (child < 0) return stuck;
    if (child == 0) run_child(fd.get(), naming, &progress);
    ended = wait_for(child, signals, handle, now + kPatienceNs);
    stuck = stuck || ended.stuck;
    if (ended.stuck && progress.outcome() >= 0) ended.status = W_EXITCODE(progress.outcome(), 0);
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) != kFailed) break;
    if (WIFEXITED(ended.status) && !ended.stuck) break;  // the profile cannot be written to
    cut_back(fd.get(), status.st_size);
    if (last || waiting_ending_signal() != 0 || !progress.valid()) break;
    naming.leave = progress.executable();
  }
  if (stuck && naming.leave)
    warn("{} has no names: its file system does not answer", profile.executables[*naming.leave].path);
  say(ended, file.name);
  return stuck;
}

bool add_names(const RecordedFile& file, const Profile& profile, const OpenSymbolizer& open_object) {
  const sigset_t ending = ending_signals();
  const UniqueFd signals(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  return add_names(
      file, profile, signals.get(),
      [&signals] {
        signalfd_siginfo info;
        while (read(signals.get(), &info, sizeof info) == sizeof info) {
        }
      },
      open_object);
}

void leave_files_behind() {
  // A process with our table of descriptors, not a copy of it: our end then closes none.
  if (syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) != 0) return;
  for (unsigned fd = 0; fd < kMostFiles; ++fd) close(static_cast<int>(fd));
  _exit(0);
}

}  // namespace pctally
