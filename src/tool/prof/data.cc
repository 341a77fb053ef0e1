#include "tool/prof/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/base_name.h"
#include "monfile/read/gmon_out.h"
#include "monfile/read/mon_out.h"
#include "object/elf/side_file.h"
#include "profile/load.h"

namespace pctally {
namespace {

constexpr std::string_view kProfileMagic = "pctally";
constexpr size_t kMostBytes = size_t{1} << 30;

/// By build id if both have one, else by name.
bool is_a_out(const Executable& executable, const ElfFile& a_out) {
  if (executable.kind != ExecutableKind::kFile) return false;
  if (!executable.build_id.empty() && !a_out.build_id().empty())
    return std::ranges::equal(executable.build_id, a_out.build_id());
  return base_name(executable.path) == base_name(a_out.path());
}

std::string label_of(const Executable& executable) {
  if (executable.kind == ExecutableKind::kKernel) return "[kernel]";
  if (executable.kind == ExecutableKind::kPrivate) return "[code without a file]";
  return executable.path.starts_with("[") ? executable.path : fmt::format("[{}]", base_name(executable.path));
}

ProfData from_profile(const Profile& profile, const ElfFile& a_out) {
  ProfData data;
  std::map<uint64_t, uint64_t> here;
  std::map<std::string, uint64_t> others;
  for (const WeightedPosition& position : profile.positions) {
    const Executable& executable = profile.executables[position.executable];
    auto address = is_a_out(executable, a_out) ? a_out.address(FileOffset{position.position}) : std::nullopt;
    (address ? here[address->value] : others[label_of(executable)]) += position.ticks;
  }
  for (const auto& [address, ticks] : here) data.text.histograms.push_back({address, address + 1, {ticks}});
  others["[outside of all text]"] += profile.ledger.outside;
  others["[no room in the profile]"] += profile.ledger.full;
  others["[lost]"] += profile.ledger.lost;
  for (const auto& [label, ticks] : others) data.elsewhere.push_back({label, static_cast<double>(ticks)});
  data.damage = profile.damage;
  data.text.seconds_per_tick = 1e-9 * static_cast<double>(profile.period_ns);
  return data;
}

Result<TextProfile> read_histogram(std::span<const unsigned char> bytes, const ElfFile& a_out) {
  ByteLayout layout{.wide = a_out.is_64_bit(), .swapped = !a_out.native_order()};
  return is_gmon_out(bytes) ? read_gmon_out(bytes, layout.wide) : read_mon_out(bytes, layout);
}

}  // namespace

Result<ProfData> read_prof_data(const std::string& path, const ElfFile& a_out) {
  std::error_code unresolved;
  std::string target = std::filesystem::canonical(path, unresolved);  // a link is the user's own wish here
  auto text = read_side_file(unresolved ? path : target, kMostBytes, Trust::kAnybody);
  if (!text) return std::unexpected(text.error());
  if (text->starts_with(kProfileMagic)) {
    auto profile = load_profile(path.c_str());
    if (!profile) return std::unexpected(profile.error());
    if (!profile->counts_cpu_time())
      return fail(0, "%s counts %s, and prof lists seconds; read it with pctally report", path.c_str(),
                  profile->event.c_str());
    return from_profile(*profile, a_out);
  }
  auto histogram =
      read_histogram({reinterpret_cast<const unsigned char*>(text->data()), text->size()}, a_out);
  if (!histogram) return fail(0, "%s: %s", path.c_str(), histogram.error().text);
  return ProfData{.text = std::move(*histogram), .elsewhere = {}};
}

}  // namespace pctally
