#include "recorder/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file/read_all.h"
#include "base/file/write_all.h"
#include "base/time_ns.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "recorder/exit_status.h"
#include "recorder/signals.h"

namespace pctally {
namespace {

/// One request may be several signals: timeout(1) sends SIGTERM to its child, and then to the whole group.
constexpr uint64_t kOneRequestNs = kNsPerSecond / 2;

/// "A=1\0B=2\0\n": complete only with the last byte, so that a recorder that died half-way starts nothing.
bool take_environment(int fd) {
  std::string text;
  if (!read_to_end(fd, SIZE_MAX - 1, &text) || text.empty() || text.back() != '\n') return false;
  for (size_t at = 0; at + 1 < text.size(); at += strlen(&text[at]) + 1) putenv(strdup(&text[at]));
  return true;
}

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments, int start,
                         int failed) {
  if (!take_environment(start)) _exit(kExitFailed);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(strdup(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  if (errno == ENOEXEC) {  // a script without "#!", as execvp(3) runs it
    argv.insert(argv.begin(), strdup("/bin/sh"));
    argv[1] = strdup(program.c_str());
    execv("/bin/sh", argv.data());
  }
  int error = errno;
  ssize_t written = write(failed, &error, sizeof error);
  _exit(written == sizeof error ? 127 : 126);
}

Result<void> make_pipe(UniqueFd* read_end, UniqueFd* write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno == EMFILE ? too_many_files() : fail(errno, "pipe: %s", strerror(errno));
  read_end->reset(ends[0]);
  write_end->reset(ends[1]);
  return {};
}

/// a += b, of what is used of it: the times.
void add_times(const rusage& b, rusage* a) {
  timeradd(&a->ru_utime, &b.ru_utime, &a->ru_utime);
  timeradd(&a->ru_stime, &b.ru_stime, &a->ru_stime);
}

/// A child that asked to be traced (PTRACE_TRACEME) is traced by its parent, and stopped at a signal, which
/// it gets as without a tracer. The SIGTRAP of an exec is for tracers alone, and looks like one that the
/// child sends itself by kill(2).
void end_tracing(pid_t pid, int signal) {
  siginfo_t info{};
  const bool of_exec = signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, pid, nullptr, &info) == 0 &&
                       info.si_code == SI_USER && info.si_pid == pid;
  ptrace(PTRACE_DETACH, pid, nullptr, of_exec ? 0L : static_cast<long>(signal));
}

std::unexpected<Error> explain_failed_fork(int error) {
  if (error == EAGAIN)
    return fail(error, "too many processes; raise ulimit -u, or pids.max of the control group");
  return fail(error, "fork: %s", strerror(error));
}

}  // namespace

Result<Child> Child::fork(const std::string& program, const std::vector<std::string>& arguments, bool adopt,
                          bool silent) {
  Child child;
  child.adopts_ = adopt;
  if (adopt)
    for (const pid_t pid : process_tree(getpid())) child.helpers_.insert(pid);
  if (adopt && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail(errno, "prctl: %s", strerror(errno));
  UniqueFd start, failed;
  if (auto made = make_pipe(&start, &child.start_); !made) return std::unexpected(made.error());
  if (auto made = make_pipe(&child.failed_, &failed); !made) return std::unexpected(made.error());
  sigset_t watched = signals_for_command(), before;
  auto signals = open_signals(watched);
  if (!signals) return std::unexpected(signals.error());
  child.signals_ = std::move(*signals);
  sigprocmask(SIG_BLOCK, &watched, &before);
  const InheritedTimers timers = InheritedTimers::take();
  child.pid_ = ::fork();
  if (child.pid_ < 0) return explain_failed_fork(errno);
  if (child.pid_ == 0) {
    child.start_.reset();
    child.failed_.reset();
    child.signals_.reset();
    restore_descriptor_limit();
    restore_child_signal();
    sigprocmask(SIG_SETMASK, &before, nullptr);
    timers.set();
    if (silent) dup2(STDOUT_FILENO, STDERR_FILENO);
    become(program, arguments, start.get(), failed.get());
  }
  return child;
}

Result<void> Child::let_go(const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string& variable : environment) text.append(variable).push_back('\0');
  text.push_back('\n');
  const bool written = write_all(start_.get(), text.data(), text.size());
  start_.reset();
  int error = 0;
  ssize_t bytes = read(failed_.get(), &error, sizeof error);
  failed_.reset();
  if (written && bytes != sizeof error) return {};
  waitpid(pid_, &status_, 0);
  reaped_ = true;
  if (!written) return fail(EPIPE, "a signal has ended it before it could start");
  return fail(error, "%s", strerror(error));
}

void Child::handle_signals() {
  constexpr int kMostAtOnce = 64;  // somebody may send faster than they are read
  const sigset_t ending = ending_signals();
  signalfd_siginfo info;
  for (int i = 0; i < kMostAtOnce && read(signals_.get(), &info, sizeof info) == sizeof info; ++i) {
    const auto signal = static_cast<int>(info.ssi_signo);
    const auto sender = static_cast<pid_t>(info.ssi_pid);
    if (reaped_)
      interrupted_ = interrupted_ || (sigismember(&ending, signal) == 1 && !is_of_tree(sender));
    else if (is_for_command(info))
      pass_on(signal, sender);
  }
}

/// A process of the command's tree sends to groups ("kill 0"), or to whoever runs the command: it does not
/// end the recording.
bool Child::is_of_tree(pid_t sender) const {
  const std::vector<pid_t> tree = reaped_ ? adopted() : process_tree(pid_);
  return std::ranges::find(tree, sender) != tree.end();
}

void Child::pass_on(int signal, pid_t sender) {
  const bool asks_to_end = (signal == SIGTERM || signal == SIGINT) && !is_of_tree(sender);
  const uint64_t now = monotonic_ns();
  if (asks_to_end && asked_to_end_ns_ != 0 && now - asked_to_end_ns_ >= kOneRequestNs) {
    left_by_ = signal;
    return;
  }
  if (asks_to_end && asked_to_end_ns_ == 0) asked_to_end_ns_ = now;
  kill(pid_, signal);
}

void Child::wait() {
  for (pollfd signals{signals_.get(), POLLIN, 0}; !ended() && left_by_ == 0; handle_signals())
    poll(&signals, 1, -1);
}

bool Child::ended() {
  if (adopts_)
    reap();
  else if (!reaped_)
    reap_alone();
  return reaped_;
}

/// wait4(2) adds up the process and its children: its own clock is there until then.
void Child::reap_alone() {
  siginfo_t end{};
  // A thread may have asked to be traced, whose stops are none of its process's.
  while (waitid(P_ALL, 0, &end, WSTOPPED | WNOHANG | __WALL) == 0 && end.si_pid != 0)
    if (end.si_code == CLD_TRAPPED) end_tracing(end.si_pid, end.si_status);
  end = {};
  const auto pid = static_cast<id_t>(pid_);
  if (waitid(P_PID, pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid != pid_) return;
  if (end.si_code == CLD_TRAPPED) return;  // stopped since: that has sent a SIGCHLD, and is seen above then
  own_time_ = cpu_time_of(pid_, false);
  reaped_ = wait4(pid_, &status_, WNOHANG, &usage_) == pid_;
}

void Child::reap() {
  int status = 0;
  rusage usage{};
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
    if (WIFSTOPPED(status)) {
      end_tracing(pid, WSTOPSIG(status));
      continue;
    }
    if (helpers_.erase(pid) != 0) continue;
    add_times(usage, &usage_);
    if (pid != pid_ || reaped_) continue;  // an orphan may get the number of a command that has ended
    status_ = status;
    reaped_ = true;
  }
}

std::vector<pid_t> Child::adopted() const {
  std::vector<pid_t> tree = process_tree(getpid(), helpers_);
  std::erase_if(tree, [](pid_t pid) { return pid == getpid() || !still_runs(pid); });
  return tree;
}

bool Child::tree_ended() { return ended() && (interrupted_ || adopted().empty()); }

void end_like(int status) {
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    prctl(PR_SET_DUMPABLE, 0);  // the program has dumped its core already
    ::signal(signal, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    raise(signal);
    _exit(128 + signal);
  }
  exit(WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed);
}

}  // namespace pctally
