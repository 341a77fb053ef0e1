#include "tool/load_profiles.h"

#include <sys/stat.h>

#include "profile/load.h"
#include "profile/merge.h"
#include "tool/message.h"

namespace pctally {
namespace {

/// Of a file that is added to others: a line for what is wrong with it.
void name_faults(const std::string& file, const Profile& profile, std::vector<std::string>* damage) {
  if (!profile.damage.empty())
    complain("{} is damaged: {}; the sum is incomplete", file, profile.damage.front());
  for (const std::string& text : profile.damage) damage->push_back(fmt::format("{}: {}", file, text));
  if (profile.closed) return;
  warn("{} {}; what it has so far is added", file,
       profile.recorder_alive ? "is still being recorded" : "is incomplete: its recorder was killed");
}

uint64_t size_of(const std::string& file) {
  struct stat status;
  return stat(file.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

}  // namespace

bool load_profiles(const std::vector<std::string>& files, std::vector<Profile>* profiles) {
  for (const std::string& file : files) {
    Result<Profile> profile = load_profile(file.c_str());
    if (!profile) {
      complain("{}", profile.error().text);
      return false;
    }
    profiles->push_back(std::move(*profile));
  }
  return true;
}

Result<Profile> load_sum(const std::vector<std::string>& files, const SumOptions& options) {
  Merger merger(options.most_bytes);
  std::vector<std::string> damage;
  for (const std::string& file : files) {
    if (auto room = merger.check_room(size_of(file), file); !room) return std::unexpected(room.error());
    Result<Profile> profile = load_profile(file.c_str());
    if (!profile) return profile;
    name_faults(file, *profile, &damage);
    if (!options.paths) profile->paths = {};
    if (auto added = merger.add(std::move(*profile), file); !added) return std::unexpected(added.error());
  }
  Profile sum = merger.take();
  sum.damage = std::move(damage);
  return sum;
}

Result<Profile> load_as_one(const std::vector<std::string>& files) {
  return files.size() == 1 ? load_profile(files.front().c_str()) : load_sum(files);
}

}  // namespace pctally
