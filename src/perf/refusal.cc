#include "perf/refusal.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/kernel/kernel_setting.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "perf/ring.h"

namespace pctally {
namespace {

constexpr long kUnreadable = -100;  ///< no level is so low

long paranoid_level() { return kernel_setting("/proc/sys/kernel/perf_event_paranoid", kUnreadable); }

bool is_of_another_user(pid_t pid) {
  struct stat status;
  return stat(directory_of(pid).c_str(), &status) == 0 && status.st_uid != geteuid();
}

std::string foreign_remedy(const Target& target) {
  for (pid_t pid : target.processes)
    if (is_of_another_user(pid))
      return "process " + std::to_string(pid) +
             " is another user's, or its program is privileged: record as root, or with CAP_PERFMON";
  return {};
}

std::string name_of_user(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : "user " + std::to_string(user);
}

/// Names the first process that this user may not observe; the other cause is a program that gained
/// privileges.
std::string explain_foreign(const Target& target) {
  for (pid_t pid : target.processes) {
    struct stat status;
    if (stat(directory_of(pid).c_str(), &status) != 0 || status.st_uid == geteuid()) continue;
    return "process " + std::to_string(pid) + " belongs to " + name_of_user(status.st_uid) +
           "; run as root, or choose a process of your own";
  }
  return {};
}

}  // namespace

bool under_seccomp() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2; }

std::string perf_obstacle() {
  if (under_seccomp()) return "this container forbids it";
  int paranoid = paranoid_level();
  if (paranoid == kUnreadable) return "this kernel has no perf events";
  return paranoid > 2 ? "kernel.perf_event_paranoid is " + std::to_string(paranoid) : "";
}

std::string explain_attach(int error, const Target& target) {
  if (error == EMFILE) return std::string(kTooManyFiles) + "; " + kRaiseFileLimit;
  constexpr char kStart[] = "start the program under pctally record -- CMD instead";
  std::string obstacle = perf_obstacle();
  bool denied = error == EACCES || error == EPERM;
  if (error == ESRCH && !target.processes.empty())
    return "process " + std::to_string(target.processes[0]) + " does not exist; it may have ended";
  if (under_seccomp() || error == ENOSYS) return "cannot attach: " + obstacle + "; " + kStart;
  if (denied && !target.is_process_tree())
    return std::string(target.kind == Target::Kind::kCgroup ? "--cgroup" : "-a") +
           " needs root, CAP_PERFMON or perf_event_paranoid 0; as a plain user record a program, or -p of "
           "your own";
  if (!denied) return {};
  if (std::string foreign = explain_foreign(target); !foreign.empty()) return foreign;
  if (!obstacle.empty())
    return "cannot attach: " + obstacle +
           "; as root: sysctl kernel.perf_event_paranoid=2, or use record -- CMD";
  return "process " + std::to_string(target.processes.at(0)) + " has privileges of its own; run as root";
}

std::string error_name(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : "error " + std::to_string(error);
}

Refusal explain_refusal(int error) {
  if (error == EMFILE) return {kTooManyFiles, kRaiseFileLimit};
  Refusal refusal;
  int paranoid = paranoid_level();
  refusal.reason = "perf_event_open: " + error_name(error);
  if (paranoid != kUnreadable) refusal.reason += ", kernel.perf_event_paranoid = " + std::to_string(paranoid);
  if (under_seccomp()) refusal.reason += ", under a seccomp filter";
  if (error == ENOSYS) {
    refusal.remedy = under_seccomp() ? "let the sandbox's seccomp profile allow perf_event_open"
                                     : "use a kernel with CONFIG_PERF_EVENTS";
  } else if (paranoid > 2 && !under_seccomp()) {
    refusal.remedy = "as root: sysctl kernel.perf_event_paranoid=2";
  } else if (error == EACCES || error == EPERM) {
    refusal.remedy =
        "in a container: --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN (PERFMON alone is not "
        "enough)";
  } else if (error == ENOMEM) {
    refusal.remedy = "raise ulimit -l";
  }
  return refusal;
}

bool is_of_opening(const Error& error) { return std::string_view(error.text).starts_with(kPerfEventOpen); }

Refusal explain_refusal(const Error& error) {
  if (is_of_opening(error)) return explain_refusal(error.code);
  if (error.code != EPERM) return {error.text, ""};
  return {std::string(error.text) + ", more than this user may lock",
          "raise ulimit -l, or end other recordings of this user"};
}

Refusal explain_refusal(int error, const Target& target) {
  Refusal refusal = explain_refusal(error);
  if (error == EMFILE) return refusal;
  bool denied = error == EACCES || error == EPERM;
  if (target.kind == Target::Kind::kCgroup && !denied) {
    refusal = {target.cgroup + " is no group of cgroup2, nor of perf_event",
               "give a directory of one of them"};
  } else if (denied && !under_seccomp() && !target.is_process_tree()) {
    refusal.remedy =
        "to see other users' processes: record as root, or with CAP_PERFMON, or sysctl "
        "kernel.perf_event_paranoid=0";
  } else if (denied && !under_seccomp()) {
    if (std::string remedy = foreign_remedy(target); !remedy.empty()) refusal.remedy = remedy;
  }
  return refusal;
}

}  // namespace pctally
