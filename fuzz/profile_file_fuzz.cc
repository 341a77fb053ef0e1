// libFuzzer target: any bytes as a profile file, through the reader and the loader to every report.
// What must hold for all of them: it ends, and every tick is in the ledger.
#include <stdio.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <source_location>
#include <string_view>

#include "export/formats.h"
#include "histread/reader.h"
#include "profile/load.h"
#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/live/live_text.h"
#include "report/text.h"

using namespace pctally;

namespace {

void require(bool condition, std::source_location place = std::source_location::current()) {
  if (condition) return;
  fprintf(stderr, "line %u does not hold\n", static_cast<unsigned>(place.line()));
  abort();
}

uint64_t sum_of_rows(const Report& report) {
  uint64_t sum = report.hidden_ticks;
  for (const Row& row : report.rows) sum += row.ticks;
  return sum;
}

constexpr std::array kGroupings = {Grouping::kFunction, Grouping::kObject,  Grouping::kLine,
                                   Grouping::kProcess,  Grouping::kProgram, Grouping::kThreadFunction,
                                   Grouping::kGroup};
constexpr size_t kLiveGroupings = 4;  // the first ones

void check_report(const Profile& profile, Grouping by) {
  Report report = make_report(profile, FakeSymbolizer::open, {.by = by, .limit = 3});
  require(sum_of_rows(report) == profile.ledger.ticks());
  require(text_report(profile, report, {.color = false, .width = 80}).find('\033') == std::string::npos);
  require(!json_report(profile, report).empty());
}

/// The file as a live view sees it, twice: as the whole of a window, and after another file.
void check_live(const Profile& profile, Grouping by) {
  static Profile other;
  NameCache names(FakeSymbolizer::open);
  LiveHistory history(1);
  history.add(other, 0);
  history.add(profile, 1);
  LiveTable table = make_live_table(history, names, {.by = by, .filter = {}});
  uint64_t now = 0;
  for (const LiveRow& row : table.rows) now += row.now_ticks;
  require(now == table.now_ledger.ticks());
  for (const LiveLine& line : live_text(profile, table, {.width = 80, .rows = 20}))
    require(line.text.find('\033') == std::string::npos);
  other = profile;
}

/// Every stack is written, and a stack is one line.
void check_stacks(const Profile& profile) {
  if (!profile.paths.has_scopes()) return;
  const Samples stacks = stacks_of(profile, FakeSymbolizer::open, true);
  std::string text = folded_export(profile, stacks);
  require(static_cast<size_t>(std::ranges::count(text, '\n')) <= stacks.samples.size());
  require(text.find('\033') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Result<Profile> profile = load_profile(std::span(data, size));
  require(profile.has_value() == read_file_contents(std::span(data, size)).has_value());
  if (!profile) return 0;
  uint64_t counted = 0;
  for (const WeightedPosition& position : profile->positions) counted += position.ticks;
  require(counted == profile->ledger.counted);
  // One grouping for an input: with all of them, three seconds were enough for 135 inputs.
  const size_t turn = std::hash<std::string_view>()({reinterpret_cast<const char*>(data), size});
  check_report(*profile, kGroupings[turn % kGroupings.size()]);
  check_live(*profile, kGroupings[turn % kLiveGroupings]);
  check_stacks(*profile);
  return 0;
}
