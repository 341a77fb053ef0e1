#include "tool/record/summary.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "profile/command.h"
#include "report/account/account.h"
#include "report/account/path_account.h"
#include "report/account/recording_facts.h"
#include "report/account/warnings.h"
#include "report/print/figures.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

constexpr size_t kMostWarnings = 3;

std::string file_size(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return "?";
  auto kib = static_cast<double>(status.st_size) / 1024;
  return kib < 10240 ? fmt::format("{:.0f} KiB", kib) : fmt::format("{:.1f} MiB", kib / 1024);
}

std::string amount(const Profile& profile, const Account& account) {
  std::string ticks = counted(profile.ledger.ticks(), "tick");
  std::string cpu = account.cpu_known ? duration_text(account.cpu_ns) + " of CPU time" : "CPU time unknown";
  if (profile.counts_cpu_time()) return ticks + ", " + cpu;
  return fmt::format("{} {} in {}, {}",
                     grouped(static_cast<uint64_t>(account.sampled_events + account.lost_events)),
                     profile.event, ticks, cpu);
}

/// What part of the CPU time the ticks stand for; nothing where that is not known.
std::string coverage(const Profile& profile, const Account& account) {
  if (!profile.counts_cpu_time() || !account.cpu_known || account.cpu_ns <= 0) return "";
  const double lost = static_cast<double>(account.lost_ns) / static_cast<double>(account.cpu_ns);
  const double missing = unsampled_beyond_chance(account) + lost;
  if (missing < -kTolerableGap) return "";  // a warning says what the time lacks
  if (missing <= kTolerableGap) {
    // A warning names what was not observed. The CPU time lacks it if nobody waited for its end.
    const double unobserved = percent_of(unobserved_ns(profile), static_cast<uint64_t>(account.cpu_ns));
    return unobserved > 100 * kTolerableGap ? "" : ", all accounted for";
  }
  const double sampled = 1 - unsampled_share(account) - lost;  // as the warnings count it
  return fmt::format(", {:.1f} % of it sampled", 100 * std::max(0.0, sampled));
}

/// How many of the ticks have no complete call path, where those are not few.
std::string cut_paths(const Profile& profile) {
  if (!profile.paths.recorded) return "";
  const PathAccount paths = path_account(profile.paths);
  const double complete = percent_of(paths.complete, paths.ticks);
  return complete < 100 * (1 - kTolerableGap) ? fmt::format(", {:.1f} % with a complete call path", complete)
                                              : "";
}

}  // namespace

void say_summary(const Profile& profile, const RecordedFile& file, bool named) {
  if (is_quiet()) return;
  Account account = account_of(profile);
  std::vector<Warning> warnings = warnings_of(profile, account);
  if (profile.ledger.ticks() == 0) {
    const auto none = std::ranges::find(warnings, std::string_view("no-ticks"), &Warning::id);
    inform("{}", none->text);
    const bool graver = none != warnings.begin();  // it may be the reason
    const auto why =
        graver ? warnings.begin() : std::ranges::find(warnings, std::string_view("unsampled"), &Warning::id);
    if (why != warnings.end()) warn("{}", why->text);
    return;
  }
  std::erase_if(warnings, [](const Warning& warning) { return warning.severity == Severity::kNote; });
  std::string where = named ? "" : fmt::format(", in {} ({})", file.name, file_size(file.path));
  inform("{}{}{}{}; next: pctally report{}", amount(profile, account), coverage(profile, account),
         cut_paths(profile), where, named ? " " + file_word(file.name) : "");
  size_t shown = std::min(warnings.size(), kMostWarnings);
  for (size_t i = 0; i < shown; ++i) warn("{}", warnings[i].text);
  if (shown < warnings.size()) inform("and {} more in the report", warnings.size() - shown);
}

}  // namespace pctally
