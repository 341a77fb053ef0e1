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
#include "report/account/recording_facts.h"
#include "report/account/unsampled_time.h"
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

/// What a file holds whose recorder died. An engine in the program goes on counting without it, but nobody
/// reads the paths then.
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

bool loses_ticks(const Profile& profile) {
  return percent_of(profile.ledger.lost, profile.ledger.ticks()) > 100 * kTolerableLoss;
}

/// The kernel's clock gives one sample a tick of its own, however many ticks are asked for. Where processes
/// are so short that most ticks are those of their starts, ring has fewer.
const char* higher_rate(const Profile& profile) {
  const uint64_t period_ns = longest(profile, &ProfileRun::period_ns);
  if (profile.clock_tick_ns != 0 && 2 * start_ticks(profile) > profile.ledger.ticks()) return "";
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
                     large ? "use a higher -c, or -e bpf as root" : lower_rate(profile));
}

void check_loss(const Profile& profile, Warnings* out) {
  const TickLedger& ledger = profile.ledger;
  double lost = percent_of(ledger.lost, ledger.ticks());
  if (loses_ticks(profile) && profile.damage.empty())  // else it is what the file has lost
    add(out, Severity::kIncomplete, "lost",
        fmt::format("{:.1f} % of the ticks {}", lost, cause_of_loss(profile)));
  const double full = percent_of(ledger.full, ledger.ticks());
  if (ledger.full != 0)
    add(out, full > 100 * kTolerableLoss ? Severity::kIncomplete : Severity::kNote, "full",
        fmt::format("{} ({:.1f} %) found no room in the recorder or the profile; their code is not known",
                    counted_ticks(profile, ledger.full), full));
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

/// A period is drawn for each run, so that two runs are wrong in different ways.
void check_starts(const Profile& profile, Warnings* out) {
  if (!has_starts_in_step(profile)) return;
  add(out, Severity::kWarning, "starts-in-step",
      fmt::format("ticks are in step with {} starts of threads: shares may be off by {:.0f} % beyond "
                  "±{}",
                  grouped(profile.starts_in_step), 100 * in_step_share(profile), for_short_ones(profile)));
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

/// True if each run used at most so many periods of CPU time, and `beside_ns` more.
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

/// True if there was time enough for enough samples, and nearly none of it was sampled: a longer run is no
/// remedy.
bool was_missed(const Profile& profile, const Account& account) {
  const uint64_t period_ns = std::max(longest(profile, &ProfileRun::period_ns), profile.clock_tick_ns);
  const int64_t enough_ns = duration_of(static_cast<uint64_t>(kFewSamples), period_ns);
  return account.sampled_ns < enough_ns && account.unsampled_ns > enough_ns;
}

/// REQUIRES: `out` has what is missing of the profile: without the CPU time of the rest, that is the cause.
void check_samples(const Profile& profile, const Account& account, Warnings* out) {
  const bool counts_known_time = profile.counts_cpu_time() && account.cpu_known;
  if (profile.ledger.ticks() == 0)
    add(out, Severity::kWarning, "no-ticks",
        !counts_known_time && std::ranges::any_of(*out, is_of_a_part) ? "no ticks in the part that is here"
                                                                      : why_no_ticks(profile, account));
  else if (const auto samples = static_cast<uint64_t>(std::lround(account.effective_samples));
           account.effective_samples < kFewSamples) {
    std::string text = samples == 0
                           ? "no effective sample: the shares say nothing"
                           : "only " + counted(samples, "effective sample") + ": the shares are rough";
    if (!counts_known_time || !was_missed(profile, account))
      text += std::string("; record for longer") + higher_rate(profile);
    add(out, Severity::kWarning, "few-samples", std::move(text));
  }
}

uint64_t ticks_since_unmapped(const Profile& profile) {
  uint64_t ticks = 0;
  for (const WeightedPosition& position : profile.positions)
    if (profile.executables[position.executable].path == "[code since unmapped]") ticks += position.ticks;
  return ticks;
}

/// In the program a tick in a library that was loaded later is placed by /proc/PID/maps, if that may be read
/// and the process does not end before.
const char* way_to_outside(const Profile& profile) {
  const bool may_be_late = has_command(profile) && runs_in_program(profile);
  return may_be_late ? ": libraries that short or unreadable processes load late; use -e ring" : "";
}

void check_engine(const Profile& profile, Warnings* out) {
  if (profile.throttled != 0)
    add(out, Severity::kWarning, "throttled",
        fmt::format("the kernel throttled sampling {}: shares of busy code are too low; {}",
                    counted(profile.throttled, "time"), lower_rate(profile)));
  double outside = percent_of(profile.ledger.outside, profile.ledger.ticks());
  if (outside > 100 * kTolerableGap)
    add(out, Severity::kWarning, "outside",
        fmt::format("{:.1f} % of the ticks lie outside all known code{}", outside, way_to_outside(profile)));
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

/// By `bpf` a program has one rate, which its mean depth decides: what the samples weigh says it. 1: all are
/// at the full rate, as far as the ledgers say: a sum's ticks are nanoseconds where its runs' periods differ.
double weight_by_ledgers(const Profile& profile, double share) {
  TickLedger all{};
  const auto add = [&all](const TickLedger& ledger) {
    all.counted += ledger.counted;
    all.samples += ledger.samples;
    all.weight_squares += ledger.weight_squares;
  };
  if (profile.runs.empty()) add(profile.ledger);
  for (const ProfileRun& run : profile.runs) add(run.ledger);
  if (all.samples >= all.counted) return 1;
  return (all.weight_squares / static_cast<double>(all.counted) - 1 + share) / share;
}

/// Their intervals are those of the whole: too narrow there.
void check_deep_stacks(const Profile& profile, Warnings* out) {
  const bool in_program = profile.engine == "timer" || profile.engine == "trap";
  if (!in_program && profile.engine != "bpf") return;
  auto [share, weight] = deep_ticks(profile.paths.context);
  if (share < kDeepTicksWorthANote) return;
  if (!in_program) weight = weight_by_ledgers(profile, share);
  if (weight <= 1) return;
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
  if (auto unsampled = unsampled_time(profile, account)) warnings.push_back(std::move(*unsampled));
  check_starts(profile, &warnings);
  check_engine(profile, &warnings);
  check_deep_stacks(profile, &warnings);
  check_host(profile, account, &warnings);
  return gravest_first(warnings);
}

}  // namespace pctally
