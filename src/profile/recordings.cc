#include "profile/recordings.h"

#include <errno.h>

#include <algorithm>

namespace pctally {
namespace {

bool has_id(const ProfileRun& run) {
  return std::ranges::any_of(run.recording_id, [](uint8_t byte) { return byte != 0; });
}

ProfileRun run_of(const Profile& profile) {
  ProfileRun run = profile;
  for (const WeightedPosition& position : profile.positions)
    if (profile.executables[position.executable].kind == ExecutableKind::kStart)
      run.measured_ticks += position.ticks;
  return run;
}

}  // namespace

std::vector<ProfileRun> runs_of(const Profile& profile) {
  return profile.runs.empty() ? std::vector<ProfileRun>{run_of(profile)} : profile.runs;
}

Recordings::Key Recordings::key_of(const ProfileRun& run) {
  if (has_id(run)) return {run.recording_id, 0, 0, 0};
  return {{}, run.started_unix_ns, run.duration_ns, run.ledger.ticks()};
}

Result<void> Recordings::add(const Profile& profile, const std::string& name) {
  for (const ProfileRun& run : runs_of(profile)) {
    if (!has_id(run) && run.started_unix_ns == 0) continue;
    const auto [entry, fresh] = files_.try_emplace(key_of(run), name);
    if (!fresh)
      return fail(EINVAL, "%s and %s are of one recording, which would count twice; leave one out",
                  entry->second.c_str(), name.c_str());
  }
  return {};
}

}  // namespace pctally
