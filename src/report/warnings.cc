#include "report/warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace pctally {
namespace {

using Warnings = std::vector<Warning>;

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void check_end(const Profile& profile, Warnings* out) {
  double covered = static_cast<double>(profile.duration_ns) / 1e9;
  if (profile.closed && profile.snapshot)
    out->push_back(
        {Severity::kNote, fmt::format("a snapshot: this is what was counted in the first {:.2f} s of "
                                      "a recording that went on",
                                      covered)});
  if (profile.closed) return;
  if (profile.recorder_alive)
    out->push_back({Severity::kNote,
                    fmt::format("still recording: this is what was counted in the first {:.2f} s", covered)});
  else
    out->push_back(
        {Severity::kIncomplete,
         fmt::format("the recorder ended without closing the file; ticks after {:.2f} s are missing",
                     covered)});
}

void check_damage(const Profile& profile, Warnings* out) {
  for (const std::string& damage : profile.damage)
    out->push_back({Severity::kIncomplete, "the file is damaged: " + damage});
}

/// What makes ticks rarer, or more frequent.
const char* lower_rate(const Profile& profile) {
  return profile.counts_cpu_time() ? "at a lower rate (-F)" : "with more events per tick (-c)";
}
const char* higher_rate(const Profile& profile) {
  if (profile.counts_cpu_time()) return " or at a higher rate (-F)";
  return profile.period_ns > 1 ? " or with fewer events per tick (-c)" : "";
}

void check_loss(const Profile& profile, Warnings* out) {
  const TickLedger& ledger = profile.ledger;
  double lost = percent(ledger.lost, ledger.ticks());
  if (lost > 100 * kTolerableLoss)
    out->push_back({Severity::kIncomplete,
                    fmt::format("{:.1f} % of the ticks were lost before they could be counted; record {}",
                                lost, lower_rate(profile))});
  if (ledger.full != 0)
    out->push_back(
        {Severity::kIncomplete,
         fmt::format("{} ticks ({:.1f} %) found no room in the profile file: where they belong is not known",
                     ledger.full, percent(ledger.full, ledger.ticks()))});
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
  return fmt::format("{} process{} not observed ({})", all, all == 1 ? " was" : "es were",
                     fmt::join(names, ", "));
}

void check_processes(const Profile& profile, Warnings* out) {
  std::map<std::string, unsigned> notes;
  for (const ProfileProcess& process : profile.processes)
    if (process.engine.empty()) ++notes[process.note];
  for (const auto& [note, count] : notes) {
    std::string why = note.empty() ? "the engine never reached it" : note;
    out->push_back({Severity::kIncomplete, fmt::format("{}: {}", unobserved_names(profile, note), why)});
  }
}

/// Observed, but not to the end or not all the time.
void check_interrupted(const Profile& profile, Warnings* out) {
  std::map<std::string, const ProfileProcess*> examples;
  for (const ProfileProcess& process : profile.processes)
    if (!process.engine.empty() && !process.note.empty() && process.pid != 0)
      examples[process.note] = &process;
  for (const auto& [note, process] : examples)
    out->push_back({process->sampled_again ? Severity::kNote : Severity::kIncomplete,
                    fmt::format("{} {}", process->comm, note)});
}

bool has_unobserved(const Profile& profile) {
  return std::any_of(profile.processes.begin(), profile.processes.end(),
                     [](const ProfileProcess& process) { return process.engine.empty(); });
}

bool is_robbed(const Profile& profile, const Account& account) {
  auto cpu = static_cast<uint64_t>(std::max<int64_t>(0, account.cpu_ns));
  return profile.stolen_ns > kTheftNoise && percent(profile.stolen_ns, cpu) > 100 * kTolerableTheft;
}

/// Why CPU time went unsampled, as far as the file can tell.
std::string gap_reason(const Profile& profile, const Account& account) {
  auto system_ns = static_cast<int64_t>(std::min<uint64_t>(profile.cpu_system_ns, INT64_MAX));
  std::string kernel = fmt::format("kernel mode is not observed (system time: {:.2f} s)", seconds(system_ns));
  bool kernel_is_part = !profile.kernel_observed && system_ns > 0;
  if (kernel_is_part && account.unsampled_ns <= system_ns + account.cpu_ns / 50) return kernel;
  std::string rest = has_unobserved(profile)
                         ? "processes that were not observed, or threads and processes too "
                           "short-lived for a tick"
                         : "threads or processes too short-lived for a tick, or code that "
                           "blocks the engine";
  for (const UnsampledPart& part : unsampled_parts(profile))
    if (part.ns > account.unsampled_ns / 2) rest = std::string("threads with ") + part.reason;
  if (is_robbed(profile, account)) rest += ", or the machine stood still for its host";
  return kernel_is_part ? kernel + "; the rest: " + rest : rest;
}

/// What no clock of the account has seen, though it was sampled.
const char* left_out_of_cpu_time(const Profile& profile) {
  bool attached = !profile.command.empty() && profile.command[0].starts_with('@');
  return attached ? "what processes used after it was last read" : "children that nobody waited for";
}

void check_gap(const Profile& profile, const Account& account, Warnings* out) {
  double gap = unsampled_share(account);
  if (std::abs(unsampled_beyond_chance(account)) <= kTolerableGap) return;
  if (gap > kTolerableGap)
    out->push_back({Severity::kWarning, fmt::format("{:.1f} % of the CPU time was not sampled: {}", 100 * gap,
                                                    gap_reason(profile, account))});
  if (gap < -kTolerableGap)
    out->push_back(
        {Severity::kWarning,
         fmt::format(
             "the ticks stand for {:.1f} % more CPU time than was measured: the measured time is too small, "
             "it leaves out {}; shares and the ticks' seconds hold",
             -100 * gap, left_out_of_cpu_time(profile))});
}

/// CPU time in kernel mode is told as unsampled; of other events nothing is.
const char* kernel_hint(const Profile& profile) {
  bool hidden = !profile.counts_cpu_time() && !profile.kernel_observed;
  return hidden ? " (in kernel mode it is not)" : "";
}

void check_looks(const Profile& profile, const Account& account, Warnings* out) {
  if (profile.ledger.ticks() == 0)
    out->push_back({Severity::kWarning,
                    fmt::format("no ticks: {}, or nothing of it was observed{}",
                                profile.counts_cpu_time()
                                    ? "the program used less CPU time than one period"
                                    : "the program had fewer " + profile.event + " than make one tick",
                                kernel_hint(profile))});
  else if (account.looks < kFewLooks)
    out->push_back({Severity::kWarning,
                    fmt::format("only {:.0f} effective samples: the shares are rough; record for longer{}",
                                account.looks, higher_rate(profile))});
}

void check_engine(const Profile& profile, Warnings* out) {
  if (profile.throttled != 0)
    out->push_back(
        {Severity::kWarning,
         fmt::format("the kernel throttled sampling {} time(s), so busy moments are under-represented; "
                     "{} or raise kernel.perf_event_max_sample_rate",
                     profile.throttled, profile.counts_cpu_time() ? "lower -F" : "raise -c")});
  double outside = percent(profile.ledger.outside, profile.ledger.ticks());
  if (outside > 100 * kTolerableGap)
    out->push_back(
        {Severity::kWarning,
         fmt::format("{:.1f} % of the ticks lie outside all text known to the recorder", outside)});
  if (profile.clock_tick_ns != 0)
    out->push_back(
        {Severity::kNote,
         fmt::format(
             "ticks fall on the kernel's {:g} ms tick: if the program works in step with it (frames, sleeps "
             "until a given time), no share is vouched for, whatever its interval; code that blocks "
             "signals is in none",
             static_cast<double>(profile.clock_tick_ns) / 1e6)});
}

/// Nothing runs and nothing ticks then: shares hold, but the program took longer by what it bore of it.
void check_host(const Profile& profile, const Account& account, Warnings* out) {
  if (is_robbed(profile, account))
    out->push_back(
        {Severity::kNote,
         fmt::format(
             "this machine's host took {:.2f} s of its CPU time meanwhile, as far as it says; what it "
             "took besides is in the unsampled time",
             seconds(duration_of(profile.stolen_ns, 1)))});
}

Warnings gravest_first(const Warnings& warnings) {
  Warnings sorted;
  for (Severity severity : {Severity::kIncomplete, Severity::kWarning, Severity::kNote})
    for (const Warning& warning : warnings)
      if (warning.severity == severity) sorted.push_back(warning);
  return sorted;
}

}  // namespace

Warnings warnings_of(const Profile& profile, const Account& account) {
  Warnings warnings;
  check_end(profile, &warnings);
  check_damage(profile, &warnings);
  check_loss(profile, &warnings);
  check_processes(profile, &warnings);
  check_interrupted(profile, &warnings);
  check_looks(profile, account, &warnings);
  check_gap(profile, account, &warnings);
  check_engine(profile, &warnings);
  check_host(profile, account, &warnings);
  return gravest_first(warnings);
}

void add_missing_names(const Profile& profile, ObjectNames& names, Warnings* warnings) {
  std::map<uint32_t, uint64_t> ticks;
  for (const WeightedPosition& position : profile.positions) ticks[position.executable] += position.ticks;
  for (const auto& [executable, sum] : ticks) {
    const std::string& problem = names.symbolizer(executable).problem();
    double share = percent(sum, profile.ledger.ticks());
    if (problem.empty() || share < 100 * kNamesWorthHaving) continue;
    warnings->push_back({Severity::kNote, fmt::format("names are missing in {} ({:.1f} % of the ticks): {}",
                                                      names.shown(executable), share, problem)});
  }
}

}  // namespace pctally
