#include "recorder/announcement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/base_name.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr size_t kMostName = 40;

std::string shortened(const std::string& name) {
  return name.size() <= kMostName ? name : "..." + name.substr(name.size() - kMostName + 3);
}

/// What runs already; empty for a command.
std::string running_text(const RecordOptions& options) {
  if (options.machine) return "the whole machine";
  if (!options.cgroup.empty()) return "control group " + shortened(options.cgroup);
  if (options.processes.size() > 1) return fmt::format("{} processes", options.processes.size());
  if (options.processes.empty()) return "";
  return fmt::format("{} ({})", comm_of(options.processes[0]), options.processes[0]);
}

}  // namespace

std::string process_names(const std::vector<pid_t>& processes) {
  if (processes.empty()) return "nothing";
  std::string first = fmt::format("{} ({})", comm_of(processes[0]), processes[0]);
  return processes.size() == 1 ? first : fmt::format("{} and {} more", first, processes.size() - 1);
}

std::string containers_text(const std::string& program, const Engine& engine) {
  const std::string_view name = base_name(program);
  constexpr std::string_view kOfDaemons[] = {"docker", "nerdctl",    "ctr",        "crictl",
                                             "lxc",    "machinectl", "systemd-run"};
  if (std::ranges::find(kOfDaemons, name) != std::end(kOfDaemons))
    return fmt::format("what {} starts is a daemon's child and not observed: use --cgroup, -p or -a", name);
  if (!engine.enters_program() || (name != "podman" && name != "buildah")) return "";
  return fmt::format("{}'s containers are not observed by engine {}: use -e ring, or pctally inside them",
                     name, engine.name());
}

std::string left_out_text(const std::vector<pid_t>& processes) {
  const std::set<pid_t> named(processes.begin(), processes.end());
  std::set<pid_t> others;
  for (const pid_t pid : processes)
    for (const pid_t descendant : process_tree(pid, named))
      if (!named.contains(descendant) && still_runs(descendant)) others.insert(descendant);
  if (others.empty()) return "";
  const std::string name = comm_of(processes[0]);
  const bool one_name = std::ranges::all_of(others, [&](pid_t pid) { return comm_of(pid) == name; });
  const bool one = others.size() == 1;
  const std::string who =
      one ? "a child that runs already is" : fmt::format("{} children that run already are", others.size());
  return fmt::format("{} not included: {}; {}", who, process_names({others.begin(), others.end()}),
                     one_name ? fmt::format("-p {} takes all of that name", name)
                              : fmt::format("name {} with -p, too", one ? "it" : "them"));
}

std::string left_behind_text(const std::vector<pid_t>& processes, bool waited) {
  constexpr size_t kMostPids = 3;
  size_t listed = std::min(processes.size(), kMostPids);
  std::string list =
      fmt::format("{}", fmt::join(processes.begin(), processes.begin() + static_cast<long>(listed), ","));
  bool one = processes.size() == 1;
  return fmt::format("{} still run{}, unrecorded; record {} {} -p {}", process_names(processes),
                     one ? "s" : "", one ? "it" : "them",
                     waited ? "with" : "to the end with --wait, or now with", list);
}

std::string announcement(const RecordOptions& options, const Engine& engine, bool kernel_observed) {
  std::string running = running_text(options), event;
  if (!options.event.is_cpu_time()) event = fmt::format("{} in ", options.event.name);
  const char* code = kernel_observed && !engine.enters_program() ? "user and kernel code" : "user code only";
  std::string text = fmt::format("recording {}{}{}{}", running, running.empty() ? "" : ", ", event, code);
  if (engine.enters_program() && kernel_observed)
    text += "; kernel time counts for the code that called it (more: pctally engines)";
  else if (!kernel_observed)
    text += geteuid() == 0 ? " (why: pctally engines)"
                           : " (kernel code needs root, or perf_event_paranoid below 2)";
  return text + (running.empty() ? "" : "; Ctrl-C ends it");
}

}  // namespace pctally
