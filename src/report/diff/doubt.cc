#include "report/diff/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

#include "report/account/account.h"
#include "report/account/warnings.h"

namespace pctally {
namespace {

using ComparedProfiles = std::span<const ComparedProfile>;

/// The part of a side's CPU time that was not sampled though the engine should have: without kernel code that
/// it does not see. For all runs together, as the kernel divides the time of short ones by its own tick.
double missing_share(ComparedProfiles side) {
  double missing_ns = 0, cpu_ns = 0;
  for (const ComparedProfile& compared : side) {
    const Profile& profile = *compared.profile;
    const Account account = account_of(profile);
    if (!account.cpu_known) continue;
    const double system_ns = profile.kernel_observed ? 0 : static_cast<double>(profile.cpu_system_ns);
    missing_ns += static_cast<double>(account.unsampled_ns) - system_ns;
    cpu_ns += static_cast<double>(account.cpu_ns);
  }
  return cpu_ns > 0 ? missing_ns / cpu_ns : 0;
}

/// Whether both sides lack as much: then amounts can still be compared. With one side, whether all its runs
/// do.
bool lack_alike(ComparedProfiles before, ComparedProfiles after) {
  std::vector<double> shares;
  if (after.empty())
    for (size_t i = 0; i < before.size(); ++i) shares.push_back(missing_share(before.subspan(i, 1)));
  else
    shares = {missing_share(before), missing_share(after)};
  if (shares.empty()) return true;
  const auto [least, most] = std::ranges::minmax(shares);
  return most - least <= kTolerableGap;
}

/// Whether all are of one tool with one period, and lack as much where their ticks come too rarely.
bool are_of_one_rate(ComparedProfiles profiles) {
  const Profile& first = *profiles.front().profile;
  return std::ranges::all_of(profiles, [&first](const ComparedProfile& other) {
    return other.profile->engine == first.engine && other.profile->period_asked_ns == first.period_asked_ns;
  });
}

/// What the profiles have in common is none.
struct Alike {
  bool lack = false, rate = false;
};

bool is_doubt(const Warning& warning, Alike alike) {
  const std::string_view id = warning.id;
  if (id == "unsampled") return !alike.lack;
  if (id == "kernel-tick") return !alike.rate;
  return is_of_a_part(warning) || id == "throttled" || id == "no-ticks" || id == "starts-in-step";
}

std::string gravest(const Profile& profile, Alike alike) {
  for (const Warning& warning : warnings_of(profile))
    if (is_doubt(warning, alike)) return warning.text;
  return "";
}

const char* where_kernel_code_is(KernelCode where) {
  switch (where) {
    case KernelCode::kUnseen:
      return "does not see kernel code";
    case KernelCode::kInCaller:
      return "has kernel code in the rows of its callers";
    case KernelCode::kPartly:
      return "sums up runs that see kernel code and others";
    case KernelCode::kMixed:
      return "sums up runs that have kernel code in other rows";
    case KernelCode::kUnknown:
      return "does not say where its kernel code is";
    default:
      return "has rows of kernel code";
  }
}

/// If there are two kinds, the second is named, with a profile of the first. A profile that mixes both is
/// like no other: it may have more of one kind.
std::vector<Doubt> of_kernel_code(std::span<const ComparedProfile> profiles, Grouping by) {
  const ComparedProfile& first = profiles.front();
  const KernelCode usual = kernel_code_of(*first.profile);
  for (const ComparedProfile& other : profiles.subspan(1)) {
    const KernelCode where = kernel_code_of(*other.profile);
    const bool left_out = !is_by_task(by) && can_leave_kernel_out(*first.profile) &&
                          can_leave_kernel_out(*other.profile);  // see blind_to_kernel()
    const bool alike = where == usual && where != KernelCode::kPartly && where != KernelCode::kMixed;
    if (!alike && !left_out)
      return {{other.name, std::string("it ") + where_kernel_code_is(where) + ", " + first.name + " " +
                               where_kernel_code_is(usual)}};
  }
  return {};
}

/// "ended by signal 6", "ended with status 1", "ended well"
std::string how_it_ended(int status) {
  if (status == 0) return "ended well";
  return (status & 0x7f) != 0 ? fmt::format("ended by signal {}", status & 0x7f)
                              : fmt::format("ended with status {}", status >> 8 & 0xff);
}

/// If a program failed on its way, less was recorded.
void of_ends(ComparedProfiles profiles, std::vector<Doubt>* doubts) {
  const auto status = [](const ComparedProfile& compared) {
    return compared.profile->closed ? compared.profile->exit_status : 0;
  };
  const auto failed =
      std::ranges::find_if(profiles, [&](const ComparedProfile& one) { return status(one) != 0; });
  if (failed == profiles.end()) return;
  const auto other = std::ranges::find_if(
      profiles, [&](const ComparedProfile& one) { return status(one) != status(*failed); });
  if (other == profiles.end()) return;
  doubts->push_back({failed->name, fmt::format("its program {}, that of {} {}", how_it_ended(status(*failed)),
                                               other->name, how_it_ended(status(*other)))});
}

/// A tick costs the program time: at 10,000 a second up to a fifth more than at 1,000. For one engine; the
/// rates of other tools have doubts of their own.
void of_rates(ComparedProfiles profiles, std::vector<Doubt>* doubts) {
  constexpr double kTolerableRatio = 2;
  const auto hertz = [&](const ComparedProfile& compared) {
    const Profile& profile = *compared.profile;
    const bool known = profile.counts_cpu_time() && profile.period_asked_ns != 0 &&
                       profile.engine != "gperftools" && profile.engine == profiles.front().profile->engine;
    return known ? 1e9 / static_cast<double>(profile.period_asked_ns) : 0;
  };
  const auto [least, most] = std::ranges::minmax_element(profiles, {}, hertz);
  if (!(hertz(*least) > 0) || hertz(*most) < kTolerableRatio * hertz(*least)) return;
  doubts->push_back({most->name, fmt::format("it has {:.0f} ticks a second, {} {:.0f}: that alone costs time",
                                             hertz(*most), least->name, hertz(*least))});
}

/// One run of a side that took much longer, though it ran the same command: something else disturbed it, and
/// how much the side varies hides what has changed.
void of_amounts(ComparedProfiles side, std::vector<Doubt>* doubts) {
  constexpr size_t kFewestRuns = 3;
  constexpr double kTolerableRatio = 2;
  if (side.size() < kFewestRuns) return;
  std::vector<double> amounts;
  for (const ComparedProfile& compared : side) {
    const Account account = account_of(*compared.profile);
    if (!account.cpu_known || compared.profile->command != side.front().profile->command) return;
    amounts.push_back(static_cast<double>(account.cpu_ns));
  }
  const size_t largest = static_cast<size_t>(std::ranges::max_element(amounts) - amounts.begin());
  const double most = amounts[largest];
  const auto middle = amounts.begin() + static_cast<std::ptrdiff_t>((amounts.size() - 1) / 2);
  std::ranges::nth_element(amounts, middle);
  if (!(*middle > 0) || most < kTolerableRatio * *middle) return;
  doubts->push_back(
      {side[largest].name,
       fmt::format("it used {:.1f} times the CPU time of most runs of its side; record it again",
                   most / *middle)});
}

/// The lines of an object, each once.
struct Lines {
  std::set<DiffKey> followed, by_number, alone;
};

std::map<std::string, Lines> lines_of(const std::vector<MeasuredRun>& side) {
  std::map<std::string, Lines> objects;
  for (const MeasuredRun& run : side)
    for (const auto& [key, place] : run.places) {
      Lines& lines = objects[std::get<1>(key)];
      if (place.match == LineMatch::kFollowed) lines.followed.insert(key);
      if (place.match == LineMatch::kByNumber) lines.by_number.insert(key);
      if (place.match == LineMatch::kAlone) lines.alone.insert(key);
    }
  return objects;
}

std::string why_in_doubt(const Lines& lines) {
  const size_t followed = lines.followed.size(), by_number = lines.by_number.size();
  const std::string other_build = "it is not of one build; ";
  if (followed + by_number == 0)
    return other_build + "no function is on both sides: functions or files may have other names";
  if (followed == 0)
    return other_build + "lines are compared by number, and an added line moves all below it";
  if (by_number == 0)
    return other_build +
           "lines are counted from the start of their function; an added line moves those below";
  return other_build + std::to_string(followed) + (followed == 1 ? " line is" : " lines are") +
         " counted from the start of a function, " + std::to_string(by_number) + " from that of the file";
}

using NamedObjects = std::map<std::string, NamedTicks>;

NamedObjects named_of(const std::vector<MeasuredRun>& side) {
  NamedObjects sum;
  for (const MeasuredRun& run : side)
    for (const auto& [object, ticks] : run.named) {
      sum[object].all += ticks.all;
      sum[object].nameless += ticks.nameless;
    }
  return sum;
}

/// Not by chance: of few ticks on the other side three more may be nameless.
bool has_much_more(const NamedTicks& one, const NamedTicks& other) {
  constexpr double kFewest = 10;
  const double usual = (other.nameless + 3) / std::max(other.all, 1.0);
  return one.nameless >= kFewest && one.nameless > (0.05 + 2 * usual) * one.all;
}

/// Ticks of the object's rows that only `side` has, by its names.
double missing_beside(const std::vector<MeasuredRun>& side, const std::vector<MeasuredRun>& other,
                      const std::string& object) {
  double sum = 0;
  for (const MeasuredRun& run : side)
    for (const auto& [key, ticks] : run.ticks) {
      const auto has_it = [&key](const MeasuredRun& beside) { return beside.ticks.contains(key); };
      if (std::get<1>(key) == object && std::ranges::none_of(other, has_it))
        sum += static_cast<double>(ticks) / run.design;
    }
  return sum;
}

/// Of one build the same code may have a name on one side alone: `lacking` was stripped, and kept its build
/// id. Then what has no name there has one in `other`, and that is missing. Otherwise other code ran.
bool lacks_names(const std::vector<MeasuredRun>& lacking, const NamedTicks& its,
                 const std::vector<MeasuredRun>& other, const NamedTicks& others, const std::string& object) {
  return 2 * missing_beside(other, lacking, object) * its.all > its.nameless * others.all;
}

/// The run in which most ticks of the object have no name; of equal ones the first.
size_t worst_run(const std::vector<MeasuredRun>& side, const std::string& object) {
  size_t worst = 0;
  double most = 0;
  for (size_t i = 0; i < side.size(); ++i) {
    const auto found = side[i].named.find(object);
    if (found == side[i].named.end() || found->second.nameless <= most) continue;
    most = found->second.nameless;
    worst = i;
  }
  return worst;
}

}  // namespace

std::vector<Doubt> doubts_of_names(const std::vector<MeasuredRun>& before,
                                   const std::vector<MeasuredRun>& after, const MatchingObjects& objects,
                                   const std::vector<std::string>& files, Grouping by) {
  std::vector<Doubt> doubts;
  NamedObjects old_named = named_of(before);
  for (const auto& [object, new_ticks] : named_of(after)) {
    const auto found = old_named.find(object);
    if (found == old_named.end()) continue;
    const bool old_lacks = has_much_more(found->second, new_ticks);
    if (!old_lacks && !has_much_more(new_ticks, found->second)) continue;
    const NamedTicks& ticks = old_lacks ? found->second : new_ticks;
    const bool has_other_code = objects.same_build.contains(object) &&
                                !(old_lacks ? lacks_names(before, ticks, after, new_ticks, object)
                                            : lacks_names(after, ticks, before, found->second, object));
    if (has_other_code) continue;
    const size_t run = old_lacks ? worst_run(before, object) : before.size() + worst_run(after, object);
    const std::string file = run < files.size() ? files[run] : old_lacks ? "old side" : "new side";
    const char* what = by == Grouping::kLine ? "line" : "name";
    const double percent = 100 * ticks.nameless / ticks.all;
    doubts.push_back({file,
                      fmt::format("{:.0f} % of {} there has no {}, so rows of {} cannot be compared", percent,
                                  object, what, object),
                      object});
  }
  return doubts;
}

std::vector<Doubt> doubts_of(ComparedProfiles before, ComparedProfiles after, Grouping by) {
  std::vector<ComparedProfile> profiles(before.begin(), before.end());
  profiles.insert(profiles.end(), after.begin(), after.end());
  const Alike alike{.lack = lack_alike(before, after), .rate = are_of_one_rate(profiles)};
  std::vector<Doubt> doubts = of_kernel_code(profiles, by);
  of_ends(profiles, &doubts);
  of_rates(profiles, &doubts);
  of_amounts(before, &doubts);
  of_amounts(after, &doubts);
  for (const ComparedProfile& compared : profiles)
    if (std::string why = gravest(*compared.profile, alike); !why.empty())
      doubts.push_back({compared.name, std::move(why)});
  return doubts;
}

std::vector<std::string> first_texts(std::span<const Doubt> doubts) {
  constexpr size_t kMostLines = 10;
  std::vector<std::string> texts;
  const size_t shown = doubts.size() <= kMostLines ? doubts.size() : kMostLines - 1;
  for (const Doubt& doubt : doubts.first(shown)) texts.push_back(doubt.text());
  if (shown < doubts.size()) texts.push_back(fmt::format("and {} more, see --json", doubts.size() - shown));
  return texts;
}

std::vector<Doubt> doubts_of_lines(const std::vector<MeasuredRun>& before,
                                   const std::vector<MeasuredRun>& after, const MatchingObjects& objects) {
  std::vector<Doubt> doubts;
  const std::map<std::string, Lines> new_lines = lines_of(after);
  for (auto& [object, lines] : lines_of(before)) {
    const auto found = new_lines.find(object);
    if (found == new_lines.end() || objects.same_build.contains(object)) continue;
    lines.followed.insert(found->second.followed.begin(), found->second.followed.end());
    lines.by_number.insert(found->second.by_number.begin(), found->second.by_number.end());
    const bool renamed = !lines.alone.empty() && !found->second.alone.empty();
    if (lines.followed.size() + lines.by_number.size() != 0 || renamed)
      doubts.push_back({object, why_in_doubt(lines)});
  }
  return doubts;
}

}  // namespace pctally
