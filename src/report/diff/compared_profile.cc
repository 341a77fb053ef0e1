#include "report/diff/compared_profile.h"

#include <errno.h>

#include <algorithm>
#include <cmath>

#include "report/path_totals.h"

namespace pctally {
namespace {

bool is_kernel(const Profile& profile, uint32_t executable) {
  return profile.executables[executable].kind == ExecutableKind::kKernel;
}

bool has_kernel_code(const Profile& profile) {
  return std::ranges::any_of(profile.positions, [&profile](const WeightedPosition& position) {
    return is_kernel(profile, position.executable);
  });
}

/// `has_rows`: of kernel code. SIGPROF finds kernel time in its callers; files of pprof and folded stacks do
/// not say what made them.
KernelCode of_one_run(const ProfileRun& run, bool has_rows) {
  if (!run.kernel_observed) return KernelCode::kUnseen;
  if (run.engine == "timer" || run.engine == "gperftools") return KernelCode::kInCaller;
  const bool unknown = (run.engine == "pprof" || run.engine == "folded") && !has_rows;
  return unknown ? KernelCode::kUnknown : KernelCode::kApart;
}

bool has_rows_of_it(KernelCode where) { return where == KernelCode::kApart || where == KernelCode::kPartly; }

uint64_t scaled(uint64_t value, double part) {
  return static_cast<uint64_t>(std::llround(static_cast<double>(value) * part));
}

/// Leaves only the deliveries of `part` of the ticks. Which ticks a run of a sum had in the kernel is not
/// known: each run is taken to have had the same part.
void keep_part(double part, TickLedger* ledger) {
  ledger->counted = scaled(ledger->counted, part);
  ledger->samples = scaled(ledger->samples, part);
  ledger->weight_squares *= part;
}

}  // namespace

Result<std::string> common_event(std::span<const ComparedProfile> profiles) {
  auto word = [](const Profile& profile) {
    return profile.counts_cpu_time() ? "CPU time" : profile.event.c_str();
  };
  // Events of one name: "heap" in bytes, or a number of them.
  const auto unit = [](const Profile& profile) { return unit_or_count(profile.event_unit); };
  const Profile& first = *profiles[0].profile;
  for (const ComparedProfile& compared : profiles) {
    const Profile& other = *compared.profile;
    if (other.event != first.event)
      return fail(EINVAL, "one profile counts %s, another %s: they cannot be compared", word(first),
                  word(other));
    if (unit(other) != unit(first))
      return fail(EINVAL, "one profile has %s in %s, another in %s: they cannot be compared", word(first),
                  unit(first).c_str(), unit(other).c_str());
  }
  return first.event;
}

const ComparedProfile* first_in_step(std::span<const ComparedProfile> profiles) {
  const auto found = std::ranges::find_if(
      profiles, [](const ComparedProfile& compared) { return compared.profile->clock_tick_ns != 0; });
  return found == profiles.end() ? nullptr : &*found;
}

KernelCode kernel_code_of(const Profile& profile) {
  if (profile.runs.empty()) return of_one_run(profile, has_kernel_code(profile));
  // A sum has no kernel code of an imported profile: merge refuses what has names.
  const auto runs_with = [&profile](KernelCode where) {
    return std::ranges::count_if(profile.runs,
                                 [where](const ProfileRun& run) { return of_one_run(run, false) == where; });
  };
  const auto all = std::ssize(profile.runs);
  for (const KernelCode where : {KernelCode::kInCaller, KernelCode::kUnknown})
    if (const auto runs = runs_with(where); runs != 0) return runs == all ? where : KernelCode::kMixed;
  const auto unseen = runs_with(KernelCode::kUnseen);
  if (unseen == 0) return KernelCode::kApart;
  return unseen == all ? KernelCode::kUnseen : KernelCode::kPartly;
}

bool can_leave_kernel_out(const Profile& profile) {
  const KernelCode where = kernel_code_of(profile);
  return where == KernelCode::kUnseen || has_rows_of_it(where);
}

std::string blind_to_kernel(std::span<const ComparedProfile> profiles, Grouping by) {
  const auto has_rows = [](const ComparedProfile& compared) {
    return has_rows_of_it(kernel_code_of(*compared.profile));
  };
  if (is_by_task(by) || std::ranges::none_of(profiles, has_rows)) return "";
  for (const ComparedProfile& compared : profiles)
    if (const KernelCode where = kernel_code_of(*compared.profile);
        where == KernelCode::kUnseen || where == KernelCode::kPartly)
      return compared.name;
  return "";
}

Profile without_kernel_code(Profile profile) {
  const uint64_t all = profile.ledger.counted;
  uint64_t kernel = 0;
  std::erase_if(profile.positions, [&](const WeightedPosition& position) {
    if (!is_kernel(profile, position.executable)) return false;
    kernel += position.ticks;
    return true;
  });
  if (kernel == 0 || kernel > all) return profile;
  // Kernel code is in all figures of the call plane, and nobody knows how much is in folded paths.
  if (is_folded(profile.paths.context)) profile.paths = {};
  profile.paths.plane.clear();
  for (PathTreeNode& node : profile.paths.context)
    if (node.kind == PathNodeKind::kCode && is_kernel(profile, node.executable)) node.self = node.folded = 0;
  const double part = static_cast<double>(all - kernel) / static_cast<double>(all);
  keep_part(part, &profile.ledger);
  profile.ledger.counted = all - kernel;
  for (ProfileRun& run : profile.runs) keep_part(part, &run.ledger);
  return profile;
}

}  // namespace pctally
