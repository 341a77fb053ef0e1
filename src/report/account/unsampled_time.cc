#include "report/account/unsampled_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/command.h"
#include "report/account/recording_facts.h"

namespace pctally {
namespace {

constexpr const char* kGivenAbove = "the reason given above";

/// Where more runs than there are CPUs, a thread is seldom on one when the kernel's clock ticks. A sample
/// stands for more then, and what a thread runs after its last one has none.
bool was_busy(const Profile& profile) {
  const uint64_t sampled_ns = duration_of(profile.ledger.ticks(), profile.period_ns);
  return profile.clock_tick_ns != 0 && sampled_ns / 5 > profile.ledger.samples * (profile.clock_tick_ns / 4);
}

/// Most of the CPU time lacks ticks, and each process that was observed was not observed to its end.
bool is_of_interruptions(const Profile& profile, const Account& account) {
  if (account.unsampled_ns <= account.cpu_ns / 2 || !has_interrupted(profile)) return false;
  return std::ranges::all_of(profile.processes, [](const ProfileProcess& process) {
    return process.engine.empty() || !process.note.empty();
  });
}

/// Why CPU time went unsampled, as far as the file can tell.
std::string gap_reason(const Profile& profile, const Account& account) {
  if (std::string part = main_part(profile, account); !part.empty()) return part;
  if (is_too_frequent(profile)) return "more ticks than this machine delivers; use a lower -F";
  if (static_cast<int64_t>(unobserved_ns(profile)) > account.unsampled_ns / 2)
    return "processes that were not observed";
  if (std::string tickless = processes_without_a_tick(profile, account); !tickless.empty()) return tickless;
  if (is_of_interruptions(profile, account)) return kGivenAbove;
  std::string reason = has_interrupted(profile) ? fmt::format("{}, ", kGivenAbove) : "";
  const bool unobserved = has_unobserved(profile), stolen = stolen_percent(profile, account) > 0;
  reason += unobserved ? "unobserved processes, " : "";
  const bool own_events = has_events_of_threads(profile);
  // A tick that falls due in a switch to the idle task, where interrupts are off, comes after it. Linux 6.18
  // closes a thread's event before it frees the memory. A host may hold a CPU for 0.1 s and not say so: to
  // this kernel the program ran, and no tick came.
  if (was_busy(profile))
    reason += "what threads ran after their last sample (busy machine)";
  else if (runs_in_program(profile))
    reason += "what is short, static or blocks signals";
  else if (own_events && !unobserved)
    reason += stolen ? "short threads, sleeps, exits" : "short threads, sleeps, exits or a busy host";
  else
    reason += fmt::format("{}, frequent sleeps{}", unobserved ? "short ones" : "short threads or processes",
                          stolen ? "" : ", or a busy host");
  if (stolen) reason += ", or CPU time that the host took";
  if (runs_in_program(profile)) reason += "; as root, -e bpf samples more";
  if (own_events && !unobserved) reason += for_short_ones(profile);
  return reason;
}

const char* who_sees_the_kernel(const Profile& profile) {
  return runs_in_program(profile) ? "as root, -e bpf samples it" : "needs root or perf_event_paranoid 1";
}

/// What no clock of the account has seen, though it was sampled.
const char* left_out_of_cpu_time(const Profile& profile) {
  const bool attached = !profile.command.empty() && !has_command(profile);
  if (attached && profile.command[0] == "@running") return "the ends of processes";
  return attached ? "what ran after its last reading" : "children nobody waited for";
}

/// Says why CPU time was not sampled by an engine that does not see the kernel.
std::string unseen_kernel(const Profile& profile, const Account& account) {
  const char* who = who_sees_the_kernel(profile);
  // In many short processes the kernel's part is in their start, and some of their own code is not sampled.
  if (duration_of(start_ticks(profile), profile.period_ns) > account.unsampled_ns / 2)
    return fmt::format(": kernel code, and what short processes run ({})", who);
  return fmt::format("; kernel code took as much ({})", who);
}

/// In a recording of the whole machine, interrupts that come while a CPU is idle are no program's, and no
/// idle time. Nor is a CPU's way to sleep and back. That was 1 to 5 % of the idle time on a virtual machine
/// that did little.
bool is_work_of_idle_cpus(const Profile& profile, const Account& account) {
  constexpr int64_t kMostPart = 16;
  if (profile.command != std::vector<std::string>{"@machine"} || !profile.runs.empty()) return false;
  if (is_too_frequent(profile) || profile.throttled != 0 || !profile.kernel_observed) return false;
  const int64_t idle_ns = duration_of(profile.machine_cpus, profile.duration_ns) - account.cpu_ns;
  return account.unsampled_ns <= idle_ns / kMostPart;
}

}  // namespace

std::string main_part(const Profile& profile, const Account& account) {
  for (const UnsampledPart& part : unsampled_parts(profile))
    if (part.ns > account.unsampled_ns / 2) return fmt::format("threads with {}", part.reason);
  return {};
}

std::string processes_without_a_tick(const Profile& profile, const Account& account) {
  const TicklessProcesses tickless = tickless_processes(profile);
  if (!has_events_of_threads(profile) || tickless.number < 2) return {};
  if (duration_of(tickless.number, profile.period_ns) < account.unsampled_ns / 2) return {};
  return fmt::format("{}{} processes without a tick ({} of {}){}", tickless.more ? "more than " : "",
                     tickless.number, tickless.most, tickless.program, for_short_ones(profile));
}

std::optional<Warning> unsampled_time(const Profile& profile, const Account& account) {
  constexpr int64_t kLeastKernelNs = 5'000'000;  // shown in hundredths of a second
  if (std::abs(unsampled_beyond_chance(account)) <= kTolerableGap) return {};
  const double percent = 100 * unsampled_share(account);
  const auto system_ns = static_cast<int64_t>(std::min<uint64_t>(profile.cpu_system_ns, INT64_MAX));
  const bool kernel_is_part = !profile.kernel_observed && system_ns >= kLeastKernelNs;
  if (percent < 0)
    return Warning{
        Severity::kWarning, "too-many-ticks",
        fmt::format("ticks are {:.1f} % more than the measured CPU time: it lacks {}, or sleeps were "
                    "in step with ticks",
                    -percent, left_out_of_cpu_time(profile))};
  const std::string fact = fmt::format("{:.1f} % of the CPU time was not sampled", percent);
  if (is_work_of_idle_cpus(profile, account))
    return Warning{Severity::kNote, "unsampled",
                   fact + ": interrupts of idle CPUs, and their way to sleep and back"};
  if (kernel_is_part && !is_too_frequent(profile) && account.unsampled_ns <= system_ns + account.cpu_ns / 50)
    return Warning{Severity::kWarning, "kernel-unseen", fact + unseen_kernel(profile, account)};
  std::string reason = gap_reason(profile, account);
  if (kernel_is_part && processes_without_a_tick(profile, account).empty())
    reason = fmt::format("{:.2f} s of kernel code, {}", seconds(system_ns), reason);
  return Warning{Severity::kWarning, "unsampled", fact + ": " + reason};
}

}  // namespace pctally
