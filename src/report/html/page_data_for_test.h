// A profile with three places, and the data in its page. For tests only.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "report/fake_symbolizer_for_test.h"
#include "report/html/html_report.h"

namespace pctally {

inline Profile profile_of(const std::string& path) {
  Profile profile;
  profile.executables.push_back({.path = path, .build_id = {}});
  profile.command = {"/home/me/prog", "--password=x"};
  profile.period_ns = 1'000'000;
  profile.closed = true;
  profile.positions = {{0, 0x100, 60}, {0, 0x180, 10}, {0, 0x210, 25}};
  profile.ledger = {.counted = 95, .outside = 5, .samples = 100, .weight_squares = 100};
  return profile;
}

inline std::string data_of(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="data">)";
  const size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script>", start) - start);
}

inline nlohmann::json parsed(const Profile& profile, const HtmlOptions& options = {}) {
  return nlohmann::json::parse(data_of(html_report(profile, &FakeSymbolizer::open, options).page));
}

/// main, which calls f2 (inlined into it: "inlined") from 0x111.
inline Profile profile_with_paths() {
  Profile profile = profile_of("/bin/prog");
  profile.paths.recorded = true;
  profile.paths.context = {
      {.kind = PathNodeKind::kScope},
      {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x111, .self = 70},
      {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x200, .self = 25},
      {.parent = 0, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(PathEnd::kShortDump)},
      {.parent = 3, .kind = PathNodeKind::kCode, .position = 0x200, .self = 5}};
  return profile;
}

inline std::string name_of(const nlohmann::json& data, const nlohmann::json& function) {
  return data["texts"][data["functions"][function.get<size_t>()][0].get<size_t>()];
}

}  // namespace pctally
