#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "export/formats.h"
#include "export/function_files.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

/// A name on one line; callgrind's own compression "(1)" must not be taken for one.
std::string plain(const std::string& name) {
  std::string text = escaped_whole(name);
  if (text.empty()) return "???";
  return text[0] == '(' ? fmt::format(" {}", text) : text;
}

using Function = std::tuple<std::string, std::string, std::string>;  ///< object, file, function
using Place = std::tuple<std::string, uint32_t, uint64_t>;           ///< file, line, address
using Costs = std::map<Function, std::map<Place, uint64_t>>;

/// By the paths of their files, which kcachegrind opens for the code; files of one path by the names that
/// tell them apart.
std::vector<std::string> object_names(const Profile& profile, const Samples& samples) {
  std::map<std::string, unsigned> paths;
  for (const Executable& executable : profile.executables) ++paths[executable.path];
  std::vector<std::string> names = samples.objects;
  for (size_t i = 0; i < names.size() && i < profile.executables.size(); ++i) {
    const std::string& path = profile.executables[i].path;
    if (profile.executables[i].kind == ExecutableKind::kFile && path.starts_with('/') && paths[path] == 1)
      names[i] = path;
  }
  return names;
}

/// A tick is of the line that was executed, in the function that holds it. A line of another file was inlined
/// or included there.
Costs costs_of(const Profile& profile, const Samples& samples) {
  const std::vector<std::string> objects = object_names(profile, samples);
  const FunctionFiles files(samples);
  Costs functions;
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    const Frame &outer = place.frames.back(), &inner = place.frames.front();
    std::string object = place.executable == Location::kNowhere ? "" : objects[place.executable];
    functions[{object, files.of(place, outer), outer.function}]
             [{inner.file, inner.line, place.is_placed ? place.address : 0}] += sample.ticks;
  }
  return functions;
}

/// Places of other tools' profiles have no address: there are lines alone then.
bool has_addresses(const Samples& samples) {
  return std::ranges::all_of(samples.locations, &Location::is_placed);
}

std::string head(const Profile& profile, const Samples& samples, bool with_addresses) {
  std::string command;
  for (const std::string& word : profile.command)
    command.append(command.empty() ? "" : " ").append(escaped_whole(word));
  uint64_t total = 0;
  for (const Sample& sample : samples.samples) total += sample.ticks;
  return fmt::format(
      "# callgrind format\nversion: 1\ncreator: pctally\ncmd: {}\npositions: {}line\nevents: Ticks\n"
      "summary: {}\n",
      command, with_addresses ? "instr " : "", total);
}

}  // namespace

std::string callgrind_export(const Profile& profile, const Samples& samples) {
  const bool with_addresses = has_addresses(samples);
  std::string out = head(profile, samples, with_addresses);
  uint64_t total = 0;
  for (const auto& [function, places] : costs_of(profile, samples)) {
    const auto& [object, file, name] = function;
    out += fmt::format("\nob={}\nfl={}\nfn={}\n", plain(object), plain(file), plain(name));
    const std::string* current = &file;
    for (const auto& [place, ticks] : places) {
      const auto& [source, line, address] = place;
      if (source != *current) {
        out += fmt::format("{}={}\n", source == file ? "fe" : "fi", plain(source));
        current = &source;
      }
      if (with_addresses) out += fmt::format("0x{:x} ", address);
      out += fmt::format("{} {}\n", line, ticks);
      total += ticks;
    }
  }
  out += fmt::format("\ntotals: {}\n", total);
  return out;
}

}  // namespace pctally
