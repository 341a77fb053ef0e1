#include "export/function_files.h"

#include <string_view>
#include <tuple>

namespace pctally {

FunctionFiles::FunctionFiles(const Samples& samples) {
  using Places = std::pair<size_t, size_t>;  // in a file: those that know the declaration, and all
  std::map<std::tuple<uint32_t, std::string_view, std::string_view>, Places> files;
  for (const Location& location : samples.locations) {
    for (const Frame& frame : location.frames) {
      if (frame.file.empty()) continue;
      Places& places = files[{location.executable, frame.function, frame.file}];
      if (frame.start_line != 0) ++places.first;
      ++places.second;
    }
  }
  Places most;
  for (const auto& [key, places] : files) {
    const auto& [executable, function, file] = key;
    const auto [known, fresh] = files_.try_emplace({executable, std::string(function)}, file);
    if (!fresh && places <= most) continue;
    known->second = file;
    most = places;
  }
}

const std::string& FunctionFiles::of(const Location& location, const Frame& frame) const {
  if (frame.start_line != 0) return frame.file;
  const auto known = files_.find({location.executable, frame.function});
  return known == files_.end() ? frame.file : known->second;
}

}  // namespace pctally
