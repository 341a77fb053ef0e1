#include "tool/newest_profile.h"

#include <errno.h>

#include <filesystem>

#include "tool/load_profiles.h"
#include "tool/terminal/message.h"

namespace pctally {

std::string newest_profile() {
  namespace fs = std::filesystem;
  std::string newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    if (entry.path().extension() != ".pct" || !entry.is_regular_file(error)) continue;
    fs::file_time_type time = entry.last_write_time(error);
    std::string name = entry.path().filename();
    if (error || (!newest.empty() && (time < newest_time || (time == newest_time && name > newest))))
      continue;
    newest = name;
    newest_time = time;
  }
  return newest;
}

Result<Profile> load_named_or_newest(std::string* file) {
  if (file->empty()) {
    *file = newest_profile();
    if (file->empty())
      return fail(ENOENT, "no *.pct file in this directory; make one: pctally record -- ./prog");
    inform("reading {}", *file);
  }
  return load_any(*file);
}

Result<Profile> load_named_or_newest(std::vector<std::string>* files) {
  if (files->size() > 1) return load_sum(*files);
  if (files->empty()) files->emplace_back();
  return load_named_or_newest(&files->front());
}

}  // namespace pctally
