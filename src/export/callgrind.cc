#include <fmt/format.h>

#include <map>
#include <tuple>

#include "export/formats.h"
#include "report/escape.h"

namespace pctally {
namespace {

/// A name on one line; callgrind's own compression "(1)" must not be taken for one.
std::string plain(const std::string& name) {
  std::string text = escaped(name);
  if (text.empty()) return "???";
  return text[0] == '(' ? fmt::format(" {}", text) : text;
}

using Function = std::tuple<std::string, std::string, std::string>;  ///< object, file, function
using Place = std::pair<std::string, uint32_t>;                      ///< file, line

}  // namespace

/// A tick is of the line that was executed, in the function that holds it; a line of another file was inlined
/// there.
std::string callgrind_export(const Profile& profile, const Samples& samples) {
  std::map<Function, std::map<Place, uint64_t>> functions;
  uint64_t total = 0;
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    const Frame &outer = place.frames.back(), &inner = place.frames.front();
    std::string object = place.executable == Location::kNowhere ? "" : samples.objects[place.executable];
    functions[{object, outer.file, outer.function}][{inner.file, inner.line}] += sample.ticks;
    total += sample.ticks;
  }
  std::string command;
  for (const std::string& word : profile.command)
    command.append(command.empty() ? "" : " ").append(escaped(word));
  std::string out = fmt::format(
      "# callgrind format\nversion: 1\ncreator: pctally\ncmd: {}\npositions: line\nevents: Ticks\n"
      "summary: {}\n",
      command, total);
  for (const auto& [function, places] : functions) {
    const auto& [object, file, name] = function;
    out += fmt::format("\nob={}\nfl={}\nfn={}\n", plain(object), plain(file), plain(name));
    const std::string* current = &file;
    for (const auto& [place, ticks] : places) {
      if (place.first != *current) {
        out += fmt::format("{}={}\n", place.first == file ? "fe" : "fi", plain(place.first));
        current = &place.first;
      }
      out += fmt::format("{} {}\n", place.second, ticks);
    }
  }
  out += fmt::format("\ntotals: {}\n", total);
  return out;
}

}  // namespace pctally
