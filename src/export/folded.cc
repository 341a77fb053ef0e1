#include <map>

#include "export/formats.h"
#include "profile/command.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

/// A frame of a folded line: a semicolon would start the next one.
std::string folded_frame(const std::string& name) {
  std::string frame = escaped_whole(name);
  for (char& byte : frame)
    if (byte == ';') byte = ':';
  return frame;
}

}  // namespace

std::string folded_export(const Profile& profile, const Samples& samples) {
  std::map<std::string, uint64_t> lines;
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    std::string line = samples.with_callers ? "" : folded_frame(program_name(profile));
    if (!samples.with_callers && place.executable != Location::kNowhere)
      line.append(";").append(folded_frame(samples.objects[place.executable]));
    for (size_t k = sample.stack.size(); k-- > 0;) {
      const std::vector<Frame>& frames = samples.locations[sample.stack[k]].frames;
      for (size_t i = frames.size(); i-- > 0;)
        line.append(line.empty() ? "" : ";").append(folded_frame(frames[i].function));
    }
    lines[line] += sample.ticks;
  }
  std::string out;
  for (const auto& [line, ticks] : lines)
    out.append(line).append(" ").append(std::to_string(ticks)).append("\n");
  return out;
}

}  // namespace pctally
