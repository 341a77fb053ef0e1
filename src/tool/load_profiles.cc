#include "tool/load_profiles.h"

#include "profile/load.h"
#include "tool/message.h"

namespace pctally {

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

}  // namespace pctally
