#include "report/account/warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "profile/command.h"
#include "profile/runs.h"
#include "report/account/deep_ticks.h"
#include "report/print/figures.h"

namespace pctally {
namespace {

using Warnings = std::vector<Warning>;

void add(Warnings* out, Severity severity, const char* id, std::string text) {
  out->push_back({severity, id, std::move(text)});
}

void check_runs(const Profile& profile, Warnings* out) {
  const auto runs = std::span(profile.runs);
  const auto open = std::ranges::count_if(runs, [](const ProfileRun& run) { return !run.closed; });
  const auto copies =
      std::ranges::count_if(runs, [](const ProfileRun& run) { return run.closed && run.snapshot; });
  if (copies != 0)
    add(out, Severity::kNote, "snapshot",
        fmt::format("{} of {} runs are snapshots of recordings that went on", copies, runs.size()));
  if (open != 0)
    add(out, Severity::kIncomplete, "cut-off",
        fmt::format("{} of {} runs were cut off, or not over; everything up to then is here", open,
                    runs.size()));
}

/// Of a sum of runs whose periods differ, a tick stands for 1 ns: each run says what its ticks were.
template <class Judge>
bool holds_for_any(const Profile& profile, const Judge& judge) {
  return profile.runs.empty() ? judge(profile) : std::ranges::any_of(profile.runs, judge);
}

bool runs_in_program(const Profile& profile) {
  return !holds_for_any(profile,
                        [](const ProfileRun& run) { return run.engine == "bpf" || run.engine == "ring"; });
}

/// Of a recording whose recorder died. An engine in the program counts on without it, but nobody reads the
/// paths then.
const char* what_is_here(const Profile& profile) {
  if (profile.command.empty() || !runs_in_program(profile)) return "everything up to then is here";
  return profile.paths.recorded ? "later ticks may be here, too, without their paths"
                                : "later ticks may be here, too";
}

void check_end(const Profile& profile, Warnings* out) {
  if (!profile.runs.empty()) return check_runs(profile, out);
  double covered = static_cast<double>(profile.duration_ns) / 1e9;
  if (profile.closed && profile.snapshot)
    add(out, Severity::kNote, "snapshot",
        fmt::format("a snapshot of the first {:.2f} s of a recording that went on", covered));
  if (profile.closed) return;
  if (profile.recorder_alive)
    add(out, Severity::kNote, "recording",
        fmt::format("still recording; this is of the first {:.2f} s", covered));
  else
    add(out, Severity::kIncomplete, "cut-off",
        fmt::format("the recording was cut off after {:.2f} s; {}", covered, what_is_here(profile)));
}

void check_damage(const Profile& profile, Warnings* out) {
  for (const std::string& damage : profile.damage)
    add(out, Severity::kIncomplete, "damaged", "the file is damaged: " + damage);
}

/// What makes ticks rarer, or more frequent.
const char* lower_rate(const Profile& profile) {
  return profile.counts_cpu_time() ? "use a lower -F" : "use a higher -c";
}

uint64_t longest(const Profile& profile, uint64_t ProfileRun::*field) {
  uint64_t value = profile.*field;
  for (const ProfileRun& run : profile.runs) value = std::max(value, run.*field);
  return value;
}

/// Ticks so close together that an interrupt and its return can take as long: some of them find the one
/// before still at work. The timers of the kernel's own clock do not come more often than it.
bool is_too_frequent(const Profile& profile) {
  constexpr uint64_t kShortestPeriodNs = 40000;
  return holds_for_any(profile, [](const ProfileRun& run) {
    return run.counts_cpu_time() && run.clock_tick_ns == 0 && run.period_ns < kShortestPeriodNs;
  });
}

bool loses_ticks(const Profile& profile) {
  return percent_of(profile.ledger.lost, profile.ledger.ticks()) > 100 * kTolerableLoss;
}

/// The kernel's clock gives one sample a tick of its own, however many ticks are asked for.
const char* higher_rate(const Profile& profile) {
  const uint64_t period_ns = longest(profile, &ProfileRun::period_ns);
  if (profile.clock_tick_ns != 0 && period_ns <= profile.clock_tick_ns) return " or use -e ring";
  if (is_too_frequent(profile) || loses_ticks(profile)) return "";
  if (profile.counts_cpu_time()) return " or use a higher -F";
  return period_ns > 1 ? " or use a lower -c" : "";
}

/// By `ring` a tick with its path takes 32 KiB until it is read, by `bpf` about 1. By `trap` nothing is lost
/// but what came late, after pthread_create(3) say, which blocks all signals for a while.
std::string cause_of_loss(const Profile& profile) {
  if (profile.engine == "trap")
    return "had to wait where signals are blocked, and their place is not known; try -e ring";
  const bool large = profile.paths.recorded && profile.engine == "ring" && !profile.counts_cpu_time();
  return fmt::format("were lost before they could be counted; {}",
                     large ? "use -e bpf or a higher -c" : lower_rate(profile));
}

void check_loss(const Profile& profile, Warnings* out) {
  const TickLedger& ledger = profile.ledger;
  double lost = percent_of(ledger.lost, ledger.ticks());
  if (loses_ticks(profile) && profile.damage.empty())  // else it is what the file has lost
    add(out, Severity::kIncomplete, "lost",
        fmt::format("{:.1f} % of the ticks {}", lost, cause_of_loss(profile)));
  if (ledger.full != 0)
    add(out, Severity::kIncomplete, "full",
        fmt::format("{} ({:.1f} %) found no room in the profile; which code they belong to is not known",
                    counted_ticks(profile, ledger.full), percent_of(ledger.full, ledger.ticks())));
}

/// CPU time of processes without an engine, as far as it is known: until they were last read.
uint64_t unobserved_ns(const Profile& profile, const std::string* note = nullptr) {
  uint64_t sum = 0;
  for (const ProfileProcess& process : profile.processes)
    if (process.engine.empty() && (note == nullptr || process.note == *note)) sum += process.cpu_ns;
  return sum;
}

std::string unobserved_names(const Profile& profile, const std::string& note) {
  constexpr size_t kMostNames = 3;
  std::vector<std::string> names;
  for (const ProfileProcess& process : profile.processes)
    if (process.engine.empty() && process.note == note) names.push_back(process.comm);
  size_t all = names.size();
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  std::string missed;
  if (const uint64_t hundredths = unobserved_ns(profile, &note) / 10'000'000; hundredths != 0)
    missed = fmt::format(", over {:.2f} s", static_cast<double>(hundredths) / 100);
  return fmt::format("{} process{} not observed ({}{})", all, all == 1 ? " was" : "es were",
                     fmt::join(names, ", "), missed);
}

void check_processes(const Profile& profile, Warnings* out) {
  std::map<std::string, unsigned> notes;
  for (const ProfileProcess& process : profile.processes)
    if (process.engine.empty()) ++notes[process.note];
  for (const auto& [note, count] : notes) {
    std::string why = note.empty() ? "the engine never reached it" : note;
    add(out, Severity::kIncomplete, "not-observed",
        fmt::format("{}: {}", unobserved_names(profile, note), why));
  }
}

/// Observed, but not to the end or not all the time.
void check_interrupted(const Profile& profile, Warnings* out) {
  std::map<std::string, const ProfileProcess*> examples;
  for (const ProfileProcess& process : profile.processes)
    if (!process.engine.empty() && !process.note.empty() && process.pid != 0)
      examples[process.note] = &process;
  for (const auto& [note, process] : examples)
    add(out, process->sampled_again ? Severity::kNote : Severity::kIncomplete, "interrupted",
        fmt::format("{} {}", process->comm, note));
}

bool has_interrupted(const Profile& profile) {
  return std::ranges::any_of(profile.processes, [](const ProfileProcess& process) {
    return !process.engine.empty() && !process.note.empty() && process.pid != 0 && !process.sampled_again;
  });
}

bool has_unobserved(const Profile& profile) {
  return std::any_of(profile.processes.begin(), profile.processes.end(),
                     [](const ProfileProcess& process) { return process.engine.empty(); });
}

/// CPU time that the machine's host took meanwhile, in percent of the CPU time used; 0 if within its noise.
double stolen_percent(const Profile& profile, const Account& account) {
  auto cpu = static_cast<uint64_t>(std::max<int64_t>(0, account.cpu_ns));
  double stolen = percent_of(profile.stolen_ns, cpu);
  return profile.stolen_ns > kTheftNoise && stolen > 100 * kTolerableTheft ? stolen : 0;
}

/// "threads with blocked signals", if most of the unsampled time is theirs, or empty.
std::string main_part(const Profile& profile, const Account& account) {
  for (const UnsampledPart& part : unsampled_parts(profile))
    if (part.ns > account.unsampled_ns / 2) return fmt::format("threads with {}", part.reason);
  return {};
}

/// Where more runs than there are CPUs, a thread is seldom on one when the kernel's clock ticks. A sample
/// stands for more then, and what a thread runs after its last one has none.
bool was_busy(const Profile& profile) {
  const uint64_t sampled_ns = duration_of(profile.ledger.ticks(), profile.period_ns);
  return profile.clock_tick_ns != 0 && sampled_ns / 5 > profile.ledger.samples * (profile.clock_tick_ns / 4);
}

/// The kernel starts an event's period anew in each thread.
bool has_events_of_threads(const Profile& profile) {
  return profile.engine == "ring" && profile.machine_cpus == 0;
}

/// "; try ...": of each thread such an event misses half a period. An engine in the program is there from its
/// start alone.
const char* other_rate_or_engine(const Profile& profile) {
  return has_command(profile) ? "; try -e timer" : "; try a higher -F";
}

/// "802 processes too short for a tick (800 of true); try -e timer", where these can have used most of the
/// unsampled time, or empty.
std::string processes_without_a_tick(const Profile& profile, const Account& account) {
  const TicklessProcesses tickless = tickless_processes(profile);
  if (!has_events_of_threads(profile) || tickless.number < 2) return {};
  if (duration_of(tickless.number, profile.period_ns) < account.unsampled_ns / 2) return {};
  return fmt::format("{}{} processes too short for a tick ({} of {}){}", tickless.more ? "more than " : "",
                     tickless.number, tickless.most, tickless.program, other_rate_or_engine(profile));
}

/// Why CPU time went unsampled, as far as the file can tell.
std::string gap_reason(const Profile& profile, const Account& account) {
  if (std::string part = main_part(profile, account); !part.empty()) return part;
  if (is_too_frequent(profile)) return "more ticks than this machine delivers; use a lower -F";
  if (static_cast<int64_t>(unobserved_ns(profile)) > account.unsampled_ns / 2)
    return "processes that were not observed";
  if (std::string tickless = processes_without_a_tick(profile, account); !tickless.empty()) return tickless;
  std::string reason = has_interrupted(profile) ? "the reason given above, " : "";
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
  else
    reason += fmt::format("{}, frequent sleeps{}{}", unobserved ? "short ones" : "short threads or processes",
                          own_events && !unobserved ? ", exits" : "", stolen ? "" : ", or a busy host");
  if (stolen) reason += ", or CPU time that the host took";
  if (runs_in_program(profile)) reason += "; as root, -e bpf samples more";
  if (own_events && !unobserved) reason += other_rate_or_engine(profile);
  return reason;
}

const char* who_sees_the_kernel(const Profile& profile) {
  return runs_in_program(profile) ? "engines bpf and ring sample it" : "needs root or perf_event_paranoid 1";
}

/// What no clock of the account has seen, though it was sampled.
const char* left_out_of_cpu_time(const Profile& profile) {
  const bool attached = !profile.command.empty() && !has_command(profile);
  if (attached && profile.command[0] == "@running") return "the ends of processes";
  return attached ? "what ran after its last reading" : "children nobody waited for";
}

/// Of the CPU time that is short of what was sampled, by an engine that does not see the kernel.
std::string unseen_kernel(const Profile& profile, const Account& account, double gap) {
  const char* who = who_sees_the_kernel(profile);
  // Of many short processes the kernel's part is in their start, and some of their own code is not sampled.
  if (duration_of(start_ticks(profile), profile.period_ns) > account.unsampled_ns / 2)
    return fmt::format(
        "{:.1f} % of the CPU time was not sampled: kernel code, and what short processes run ({})", 100 * gap,
        who);
  return fmt::format("{:.1f} % of the CPU time was not sampled; kernel code took as much ({})", 100 * gap,
                     who);
}

/// Of the whole machine: interrupts that come while a CPU is idle are no program's, and no idle time. Nor is
/// a CPU's way to sleep and back. That was 1 to 5 % of the idle time on a virtual machine that did little.
bool is_work_of_idle_cpus(const Profile& profile, const Account& account) {
  constexpr int64_t kMostPart = 16;
  if (profile.command != std::vector<std::string>{"@machine"} || !profile.runs.empty()) return false;
  if (is_too_frequent(profile) || profile.throttled != 0 || !profile.kernel_observed) return false;
  const int64_t idle_ns = duration_of(profile.machine_cpus, profile.duration_ns) - account.cpu_ns;
  return account.unsampled_ns <= idle_ns / kMostPart;
}

void check_gap(const Profile& profile, const Account& account, Warnings* out) {
  double gap = unsampled_share(account);
  if (std::abs(unsampled_beyond_chance(account)) <= kTolerableGap) return;
  auto system_ns = static_cast<int64_t>(std::min<uint64_t>(profile.cpu_system_ns, INT64_MAX));
  bool kernel_is_part = !profile.kernel_observed && system_ns > 0;
  if (gap < 0)
    add(out, Severity::kWarning, "too-many-ticks",
        fmt::format("ticks are {:.1f} % more than the measured CPU time: it lacks {}, or sleeps were in step "
                    "with ticks",
                    -100 * gap, left_out_of_cpu_time(profile)));
  else if (is_work_of_idle_cpus(profile, account))
    add(out, Severity::kNote, "unsampled",
        fmt::format(
            "{:.1f} % of the CPU time was not sampled: interrupts of idle CPUs, and their way to sleep "
            "and back",
            100 * gap));
  else if (kernel_is_part && !is_too_frequent(profile) &&
           account.unsampled_ns <= system_ns + account.cpu_ns / 50)
    add(out, Severity::kWarning, "kernel-unseen", unseen_kernel(profile, account, gap));
  else if (kernel_is_part && processes_without_a_tick(profile, account).empty())
    add(out, Severity::kWarning, "unsampled",
        fmt::format("{:.1f} % of the CPU time was not sampled: {:.2f} s of kernel code, {}", 100 * gap,
                    seconds(system_ns), gap_reason(profile, account)));
  else
    add(out, Severity::kWarning, "unsampled",
        fmt::format("{:.1f} % of the CPU time was not sampled: {}", 100 * gap, gap_reason(profile, account)));
}

/// CPU time in kernel mode is part of the unsampled time; of other events nothing says how many there were.
const char* kernel_hint(const Profile& profile) {
  bool hidden = !profile.counts_cpu_time() && !profile.kernel_observed;
  return hidden ? " (those in kernel mode need root)" : "";
}

std::string program_or_target(const Profile& profile) {
  return has_command(profile) ? program_name(profile) : "the target";
}

/// A process may end before the recorder has looked at it, and so be without a row that says why.
std::string why_nothing_was_observed(const Profile& profile, const Account& account) {
  if (!main_part(profile, account).empty()) return "the next warning says why";
  if (!processes_without_a_tick(profile, account).empty()) return "the next warning says why";
  if (has_unobserved(profile) || !runs_in_program(profile)) return "none of it was observed";
  return fmt::format("{} no static, setuid or env -i program; try -e ring",
                     profile.engine == kSeveralEngines ? "its engines see" : profile.engine + " sees");
}

/// A round rate that would give a hundred ticks, if that is one that a machine bears.
uint64_t rate_for(int64_t cpu_ns) {
  constexpr double kTicks = 100;
  constexpr uint64_t kMostRate = 10000;
  const double wanted = kTicks * 1e9 / static_cast<double>(std::max<int64_t>(cpu_ns, 1));
  for (const uint64_t rate : {1u, 2u, 5u, 10u, 20u, 50u, 100u, 200u, 500u, 1000u, 2000u, 5000u})
    if (static_cast<double>(rate) >= wanted) return rate;
  return kMostRate;
}

/// CPU time before a process's exec and during its exit, which gets no ticks.
constexpr int64_t kStartNs = 2'000'000;

/// Of each run, where there are several: they used at most so many periods, and so much beside.
bool uses_at_most(const Profile& profile, uint64_t periods, int64_t beside_ns = 0) {
  return !holds_for_any(profile, [=](const ProfileRun& run) {
    return static_cast<int64_t>(run.cpu_user_ns + run.cpu_system_ns) >
           duration_of(periods, run.period_ns) + beside_ns;
  });
}

/// "no ticks: ls used 0.4 ms, less than one period (1 ms)", and what to do.
std::string why_no_ticks(const Profile& profile, const Account& account) {
  std::string program = program_or_target(profile);
  if (!profile.counts_cpu_time())
    return fmt::format("no ticks: {} had fewer {} than make one tick, or none was observed{}", program,
                       profile.event, kernel_hint(profile));
  double period_ms = static_cast<double>(longest(profile, &ProfileRun::period_asked_ns)) / 1e6;
  if (!account.cpu_known) return fmt::format("no ticks: {} used less CPU time than one period", program);
  if (!uses_at_most(profile, 2, kStartNs))
    return fmt::format("no ticks, although {} used {} of CPU time: {}", program,
                       duration_text(account.cpu_ns), why_nothing_was_observed(profile, account));
  const uint64_t rate = rate_for(account.cpu_ns);
  const bool is_higher = static_cast<double>(rate) * period_ms > 1000;
  const std::string size =
      uses_at_most(profile, 2)
          ? fmt::format("{} one period ({:g} ms)", uses_at_most(profile, 1) ? "less than" : "about",
                        period_ms)
          : fmt::format("as much as a start and an end take (one period is {:g} ms)", period_ms);
  return fmt::format("no ticks: {} used {}, {}{}; try {}a longer run", program, duration_text(account.cpu_ns),
                     profile.runs.size() > 1 ? "each run " : "", size,
                     is_higher ? fmt::format("-F {}, or ", rate) : "");
}

/// REQUIRES: `out` has what is missing of the profile: without the CPU time of the rest, that is the cause.
void check_samples(const Profile& profile, const Account& account, Warnings* out) {
  const bool counts_known_time = profile.counts_cpu_time() && account.cpu_known;
  if (profile.ledger.ticks() == 0)
    add(out, Severity::kWarning, "no-ticks",
        !counts_known_time && std::ranges::any_of(*out, is_of_a_part) ? "no ticks in the part that is here"
                                                                      : why_no_ticks(profile, account));
  else if (const auto samples = static_cast<uint64_t>(std::lround(account.effective_samples));
           account.effective_samples < kFewSamples)
    add(out, Severity::kWarning, "few-samples",
        fmt::format("{}; record for longer{}",
                    samples == 0 ? "no effective sample: the shares say nothing"
                                 : "only " + counted(samples, "effective sample") + ": the shares are rough",
                    higher_rate(profile)));
}

uint64_t ticks_since_unmapped(const Profile& profile) {
  uint64_t ticks = 0;
  for (const WeightedPosition& position : profile.positions)
    if (profile.executables[position.executable].path == "[code since unmapped]") ticks += position.ticks;
  return ticks;
}

void check_engine(const Profile& profile, Warnings* out) {
  if (profile.throttled != 0)
    add(out, Severity::kWarning, "throttled",
        fmt::format("the kernel throttled sampling {}: shares of busy code are too low; {}",
                    counted(profile.throttled, "time"), lower_rate(profile)));
  double outside = percent_of(profile.ledger.outside, profile.ledger.ticks());
  if (outside > 100 * kTolerableGap)
    add(out, Severity::kWarning, "outside",
        fmt::format("{:.1f} % of the ticks lie outside all known code", outside));
  if (const double gone = percent_of(ticks_since_unmapped(profile), profile.ledger.ticks());
      gone > 100 * kTolerableGap)
    add(out, Severity::kWarning, "unmapped",
        fmt::format("{:.1f} % of the ticks lie in libraries that were unloaded before they could be named{}",
                    gone, runs_in_program(profile) ? "; use -e ring" : ""));
  if (profile.clock_tick_ns != 0)
    add(out, Severity::kNote, "in-step",
        fmt::format("ticks follow the kernel's {:g} ms clock: shares are wrong where the program runs in "
                    "step with it",
                    static_cast<double>(profile.clock_tick_ns) / 1e6));
  if (profile.engine == "gperftools" && profile.period_asked_ns < kLongestKernelTickNs)
    add(out, Severity::kWarning, "kernel-tick",
        "gperftools gets at most one tick a kernel tick (1 to 10 ms): seconds may be too few; shares hold");
}

/// Nothing runs and nothing ticks then: shares hold, but the program took longer by what it bore of it.
void check_host(const Profile& profile, const Account& account, Warnings* out) {
  if (double stolen = stolen_percent(profile, account); stolen > 0)
    add(out, Severity::kNote, "host",
        fmt::format(
            "the host took CPU time away ({:.0f} % of what was used); shares hold, times may be too long",
            stolen));
}

constexpr double kDeepTicksWorthANote = 0.01;

/// Their intervals are those of the whole: too narrow there.
void check_deep_stacks(const Profile& profile, Warnings* out) {
  if (profile.engine != "timer" && profile.engine != "trap") return;
  const auto [share, weight] = deep_ticks(profile.paths.context);
  if (share < kDeepTicksWorthANote) return;
  const double wider = std::sqrt(weight / (1 - share + share * weight));
  std::string text =
      fmt::format("{:.0f} % of the ticks are in stacks deeper than {} frames, which are sampled more rarely",
                  100 * share, kFramesAtFullRate);
  if (wider > 1.1) text += fmt::format(": the true ± there is up to {:.1f} times the one shown", wider);
  add(out, Severity::kNote, "deep-stacks", std::move(text));
}

Warnings gravest_first(const Warnings& warnings) {
  Warnings sorted;
  for (Severity severity : {Severity::kIncomplete, Severity::kWarning, Severity::kNote})
    for (const Warning& warning : warnings)
      if (warning.severity == severity) sorted.push_back(warning);
  return sorted;
}

}  // namespace

std::vector<Warning> warnings_of(const Profile& profile) { return warnings_of(profile, account_of(profile)); }

bool is_of_a_part(const Warning& warning) {
  const std::string_view id = warning.id;
  return warning.severity == Severity::kIncomplete || id == "recording" || id == "snapshot";
}

Warnings warnings_of(const Profile& part, const Account& account) {
  const Profile& profile = whole_of(part);
  Warnings warnings;
  check_end(profile, &warnings);
  check_damage(profile, &warnings);
  check_loss(profile, &warnings);
  check_processes(profile, &warnings);
  check_interrupted(profile, &warnings);
  check_samples(profile, account, &warnings);
  check_gap(profile, account, &warnings);
  check_engine(profile, &warnings);
  check_deep_stacks(profile, &warnings);
  check_host(profile, account, &warnings);
  return gravest_first(warnings);
}

}  // namespace pctally
