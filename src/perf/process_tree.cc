#include "perf/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/file/read_all.h"
#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr size_t kMostProcText = size_t{4} << 20;

/// "12 34 56 ": the children one thread has started.
void add_children(const std::string& path, std::vector<pid_t>* tree) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (fd.valid()) (void)read_to_end(fd.get(), kMostProcText, &text);
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at) return;
    tree->push_back(static_cast<pid_t>(pid));
  }
}

/// The entries of a directory that are numbers.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return numbers;
  while (const dirent* entry = readdir(directory))
    if (int number = atoi(entry->d_name); number > 0) numbers.push_back(number);
  closedir(directory);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// The number that was given out last; 0: not known.
pid_t newest_process() {
  char text[128];
  const char* number = read_proc_file("/proc/loadavg", text, sizeof text) > 0 ? strrchr(text, ' ') : nullptr;
  return number == nullptr ? 0 : atoi(number);
}

std::optional<bool> has_variable(pid_t pid, const std::string& variable) {
  UniqueFd fd(open((directory_of(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(1, '\0');
  if (!fd.valid() || (!read_to_end(fd.get(), kMostProcText, &text) && errno == EFBIG)) return std::nullopt;
  std::string wanted(1, '\0');
  wanted.append(variable).push_back('\0');
  return text.find(wanted) != std::string::npos;
}

/// In the middle of execve(2): it has neither arguments nor environment, for a moment.
bool is_executing(pid_t pid) {
  ProcStat stat;
  return read_proc_stat(pid, &stat) && !stat.kernel_thread && stat.state != 'Z' && stat.state != 'X' &&
         command_line_of(pid).empty();
}

}  // namespace

bool in_first_pid_namespace() {
  constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO
  struct stat status;
  return stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kFirstPidNamespace;
}

std::string directory_of(pid_t pid) { return "/proc/" + (pid == 0 ? "self" : std::to_string(pid)); }

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = directory_of(pid) + "/task/";
  for (pid_t thread : threads_of(pid)) add_children(tasks + std::to_string(thread) + "/children", &children);
  return children;
}

std::vector<pid_t> process_tree(pid_t root, const std::set<pid_t>& left_out) {
  std::vector<pid_t> tree;
  if (access(directory_of(root).c_str(), F_OK) != 0) return tree;
  tree.push_back(root);
  for (size_t i = 0; i < tree.size(); ++i) {
    std::ranges::copy_if(children_of(tree[i]), std::back_inserter(tree),
                         [&left_out](pid_t child) { return !left_out.contains(child); });
  }
  return tree;
}

std::vector<pid_t> all_processes() { return numbers_in("/proc"); }

std::vector<pid_t> processes_of_group(const std::string& directory) {
  std::vector<std::string> groups = {directory};
  std::vector<pid_t> processes;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string group = groups[i];
    add_children(group + "/cgroup.procs", &processes);
    DIR* entries = opendir(group.c_str());
    if (entries == nullptr) continue;  // removed meanwhile
    while (const dirent* entry = readdir(entries))
      if (entry->d_type == DT_DIR && entry->d_name[0] != '.') groups.push_back(group + "/" + entry->d_name);
    closedir(entries);
  }
  return processes;
}

std::vector<pid_t> threads_of(pid_t pid) { return numbers_in(directory_of(pid) + "/task"); }

std::vector<pid_t> threads_of(const std::vector<pid_t>& processes) {
  std::vector<pid_t> all;
  for (const pid_t process : processes)
    for (const pid_t thread : threads_of(process)) all.push_back(thread);
  std::ranges::sort(all);
  return all;
}

pid_t process_of_thread(pid_t tid) {
  ProcStatus status;
  return read_proc_status(tid, &status) ? status.group : 0;
}

bool has_process(pid_t pid) noexcept { return kill(pid, 0) == 0 || errno != ESRCH; }

bool still_runs(pid_t pid) {
  ProcStat stat;
  return read_proc_stat(pid, &stat) && !stat.kernel_thread && !stat.has_ended();
}

std::optional<uint64_t> cpu_ns_of(pid_t pid) {
  clockid_t clock = 0;
  timespec used{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return to_ns(used);
}

std::string command_line_of(pid_t pid) {
  std::string text(65536, '\0');
  text.resize(read_proc_file(pid, "cmdline", text.data(), text.size()));
  return text;
}

std::vector<pid_t> processes_given(const std::string& variable, pid_t first) {
  constexpr int kMostPasses = 10;  // a process may fork and end while we read
  std::vector<pid_t> found;
  pid_t last = 0;
  bool starting = false;
  for (int passes = 0; passes < kMostPasses && (starting || last != newest_process()); ++passes) {
    if (starting) usleep(2000);
    last = newest_process();
    found.clear();
    starting = false;
    for (pid_t pid : all_processes()) {
      const bool younger = pid > first || (last < first && pid <= last);  // numbers start again
      if (!younger) continue;
      if (has_variable(pid, variable) == true)
        found.push_back(pid);
      else
        starting = starting || is_executing(pid);
    }
  }
  return found;
}

std::optional<bool> was_given(pid_t pid, const std::string& variable) {
  return command_line_of(pid).empty() ? std::nullopt : has_variable(pid, variable);
}

std::string comm_of(pid_t pid) {
  char comm[16] = {};  // a kernel worker's is longer there
  return {comm, read_proc_file(pid, "comm", comm, sizeof comm) > 0 ? strcspn(comm, "\n") : 0};
}

bool is_held_in_kernel(pid_t killed) {
  ProcStat stat;
  return read_proc_stat(killed, &stat) && stat.state != 'R' && stat.state != 'Z' && stat.state != 'X';
}

pid_t number_inside(pid_t pid) {
  ProcStatus status;
  if (!read_proc_status(pid, &status)) return 0;
  return status.inside == 0 ? pid : status.inside;
}

}  // namespace pctally
