// libFuzzer target: any bytes as a profile file, through the reader and the loader to every report.
// What must hold for all of them: it ends, and every tick is in the ledger.
#include <cstdlib>
#include <memory>

#include "histfile/reader.h"
#include "profile/load.h"
#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/text.h"

using namespace pctally;

namespace {

void require(bool condition) {
  if (!condition) abort();
}

uint64_t sum_of_rows(const Report& report) {
  uint64_t sum = report.hidden_ticks;
  for (const Row& row : report.rows) sum += row.ticks;
  return sum;
}

void check_reports(const Profile& profile) {
  for (Grouping by : {Grouping::kFunction, Grouping::kObject, Grouping::kLine, Grouping::kProcess}) {
    Report report = make_report(profile, FakeSymbolizer::open, {.by = by, .limit = 3});
    require(sum_of_rows(report) == profile.ledger.ticks());
    require(text_report(profile, report, {.color = false, .width = 80}).find('\033') == std::string::npos);
    require(!json_report(profile, report).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Result<Profile> profile = load_profile(std::span(data, size));
  require(profile.has_value() == read_file_contents(std::span(data, size)).has_value());
  if (!profile) return 0;
  uint64_t counted = 0;
  for (const WeightedPosition& position : profile->positions) counted += position.ticks;
  require(counted == profile->ledger.counted);
  check_reports(*profile);
  return 0;
}
