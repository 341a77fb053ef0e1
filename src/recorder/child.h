// The program to record: forked, held before its exec, let go, waited for, and its end passed on as our own.
#pragma once
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "recorder/cpu_account.h"

namespace pctally {

class Child {
 public:
  /// Forks a process that will run `program` with `arguments` once let go. Signals to this process are
  /// from now on read from signals() and passed on (see signals.h).
  ///
  /// `adopt`: what it starts and leaves behind becomes a child of this process, which can then wait for it.
  /// `silent`: what it writes to standard error goes where its output goes.
  static Result<Child> fork(const std::string& program, const std::vector<std::string>& arguments, bool adopt,
                            bool silent = false);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Lets it run, with `environment` (NAME=VALUE) added to ours. An Error with errno if its exec failed, or
  /// with EPIPE if a signal has ended it before, which status() then says; the process is gone.
  Result<void> let_go(const std::vector<std::string>& environment);

  /// Readable when a signal has come; then call handle_signals().
  [[nodiscard]] int signals() const noexcept { return signals_.get(); }
  void handle_signals();

  /// The second SIGTERM or SIGINT that a process outside the program's tree sent to this one, half a second
  /// or more after the first: the program has not ended, and is to be left running. 0: none. Ctrl-C does not
  /// count: a terminal sends it to the program, which people may interrupt often (a shell, a debugger).
  [[nodiscard]] int left_by() const noexcept { return left_by_; }

  /// Waits for its end, or until it is to be left running, passing signals on.
  void wait();

  /// True once it has ended; then status() and usage() are valid.
  bool ended();
  [[nodiscard]] int status() const noexcept { return status_; }
  /// The usage of the program, of everything it waited for, and of what was adopted and has ended. Without
  /// that of processes that this one had started before, as a script does that becomes a recorder by exec.
  [[nodiscard]] const rusage& usage() const noexcept { return usage_; }
  /// The CPU time of the program alone. REQUIRES: not `adopt`.
  [[nodiscard]] const CpuTime& own_time() const noexcept { return own_time_; }

  /// The living descendants that it left behind. REQUIRES: `adopt`.
  [[nodiscard]] std::vector<pid_t> adopted() const;

  /// True once it has ended and nothing that it left behind lives, or a signal after its end asked to end.
  /// REQUIRES: `adopt`.
  bool tree_ended();

 private:
  void reap();
  void reap_alone();
  void pass_on(int signal, pid_t sender);
  [[nodiscard]] bool is_of_tree(pid_t sender) const;

  pid_t pid_ = -1;
  UniqueFd start_;   ///< write end: the environment goes in, and closing it lets the process go
  UniqueFd failed_;  ///< read end: errno if exec failed, end-of-file if it worked
  UniqueFd signals_;
  std::set<pid_t> helpers_;  ///< this process and what it had started before
  bool adopts_ = false;
  bool interrupted_ = false;      ///< by a signal after its end
  uint64_t asked_to_end_ns_ = 0;  ///< when the first request came; 0: none has
  int left_by_ = 0;
  bool reaped_ = false;
  int status_ = 0;
  rusage usage_{};
  CpuTime own_time_;
};

/// Ends this process the way `status` (of waitpid) says the program ended: same exit code, or killed by
/// the same signal.
[[noreturn]] void end_like(int status);

}  // namespace pctally
