// hostile_page PAGE JSON, and PAGE.diff.html: a profile whose names try to get out of where they stand, as
// report --html and report --json write it.
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "report/diff/diff.h"
#include "report/html/html_report.h"
#include "report/json.h"
#include "report/rollup.h"

namespace pctally {
namespace {

const std::string kNames[] = {
    "<img src=x onerror=\"document.title='executed'\">",
    "</script><script>document.title='executed'</script>",
    "<!--<script>",
    "-->",
    "</noscript><script>document.title='executed'</script>",
    "</title><b>title",
    "\"><svg onload=document.title='executed'>",
    "' onmouseover='document.title=1",
    "javascript:document.title='executed'",
    "${document.title='executed'}{{7*7}}",
    "\342\200\256desrever\342\200\254",
    "line\nfeed\r\ttab",
    std::string("nul\0byte", 8),
    "\033]0;title\007",
    "\xff\xfe not text",
    "\xed\xa0\x80 half of a pair",
    "",
    " ",
    "__proto__",
    "constructor",
    "toString",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
    "\xf0\x9f\x94\xa5",
    "@PCTALLY_DATA@",
    "$&$1$`",
    "\\u003cscript\\u003e",
    std::string(5000, 'l'),
};

/// Every function's source is `source`, a line of it for each name.
class Hostile : public Symbolizer {
 public:
  Hostile(const ExecutableIdentity& identity, std::string source)
      : object_(identity.path), source_(std::move(source)) {}
  [[nodiscard]] const std::string& object_name() const override { return object_; }
  [[nodiscard]] const std::string& problem() const override { return problem_; }
  [[nodiscard]] std::optional<uid_t> owner() const override { return geteuid(); }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges;
    for (uint64_t position : positions) {
      const uint64_t number = position / 0x100;
      ranges.push_back(
          {kNames[number % std::size(kNames)], number * 0x100, number * 0x100 + 0x100, "", number * 0x100});
    }
    return ranges;
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> frames;
    for (uint64_t position : positions) {
      const size_t number = position / 0x100 % std::size(kNames);
      frames.push_back({{kNames[number], source_, static_cast<uint32_t>(number + 1), ""},
                        {kNames[number], "/src/" + kNames[number], 1, ""}});
    }
    return frames;
  }

 private:
  std::string object_, source_, problem_;
};

/// Every tick of the first object's functions on a path of its own: called by the function before it.
void add_paths(Profile* profile) {
  profile->paths.recorded = true;
  PathTree& tree = profile->paths.context;
  tree.push_back({.kind = PathNodeKind::kScope});
  for (const WeightedPosition& position : profile->positions) {
    const uint64_t caller = position.position >= 0x100 ? position.position - 0x100 : position.position;
    const auto parent = static_cast<uint32_t>(tree.size());
    tree.push_back({.parent = 0, .kind = PathNodeKind::kCode, .executable = 0, .position = caller});
    tree.push_back({.parent = parent,
                    .kind = PathNodeKind::kCode,
                    .executable = position.executable,
                    .position = position.position,
                    .self = position.ticks});
  }
}

/// Each of two objects has every name.
Profile hostile_profile() {
  Profile profile;
  profile.command = {kNames[1], kNames[0]};
  profile.engine = "</b>";
  profile.period_ns = 1'000'000;
  profile.closed = true;
  profile.executables.push_back({.path = kNames[1], .build_id = {}});
  profile.executables.push_back({.path = "constructor", .build_id = {}});
  for (uint32_t executable : {0u, 1u})
    for (uint64_t i = 0; i < std::size(kNames); ++i) {
      profile.positions.push_back({executable, 0x100 * i + 0x10, 40 - i + executable});
      profile.ledger.counted += profile.positions.back().ticks;
    }
  add_paths(&profile);
  profile.ledger.lost = 3;
  profile.ledger.samples = profile.ledger.ticks();
  profile.ledger.weight_squares = static_cast<double>(profile.ledger.samples);
  return profile;
}

/// Lines with every name.
std::string write_source(const std::string& path) {
  std::ofstream file(path);
  for (const std::string& name : kNames)
    file << name.substr(0, name.find_first_of(std::string("\n\r\0", 3))) << '\n';
  return path;
}

int write_both(const std::string& page, const std::string& json) {
  const Profile profile = hostile_profile();
  const std::string source = write_source(page + "<b>.c");
  const auto open = [&source](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<Hostile>(identity, source);
  };
  std::ofstream(page) << html_report(profile, open, {.command = true}).page;
  // Three runs a side. In the new ones the first name has twice the ticks.
  Profile changed = hostile_profile();
  changed.positions[0].ticks += 400;
  changed.ledger.counted += 400;
  const std::vector<Profile> before(3, profile), after(3, changed);
  auto diff = make_diff(before, after, open, {});
  if (!diff) return 1;
  std::ofstream(page + ".diff.html") << html_report(after[0], open, {.view = "compare", .diff = &*diff}).page;
  std::ofstream(json) << json_report(profile, make_report(profile, open, {}));
  return 0;
}

}  // namespace
}  // namespace pctally

int main(int argc, char** argv) { return argc == 3 ? pctally::write_both(argv[1], argv[2]) : 2; }
