#include <map>

#include "export/formats.h"
#include "report/escape.h"

namespace pctally {
namespace {

/// A frame of a folded line: a semicolon would start the next one.
std::string folded_frame(const std::string& name) {
  std::string frame = escaped(name);
  for (char& byte : frame)
    if (byte == ';') byte = ':';
  return frame;
}

std::string program_of(const Profile& profile) {
  if (profile.command.empty()) return "pctally";
  const std::string& path = profile.command[0];
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string folded_export(const Profile& profile, const Samples& samples) {
  std::map<std::string, uint64_t> lines;
  for (const Sample& sample : samples.samples) {
    std::string line = folded_frame(program_of(profile));
    if (sample.executable != Sample::kNowhere)
      line.append(";").append(folded_frame(samples.objects[sample.executable]));
    for (size_t i = sample.frames.size(); i-- > 0;)
      line.append(";").append(folded_frame(sample.frames[i].function));
    lines[line] += sample.ticks;
  }
  std::string out;
  for (const auto& [line, ticks] : lines)
    out.append(line).append(" ").append(std::to_string(ticks)).append("\n");
  return out;
}

}  // namespace pctally
