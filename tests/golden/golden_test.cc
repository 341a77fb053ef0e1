#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "profile/load.h"
#include "report/fake_symbolizer_for_test.h"
#include "report/json.h"
#include "report/text.h"
#include "sample_profile.h"

namespace pctally {
namespace {

/// The words of a file name such as report.by-object.limit-3.json.
struct Flags {
  ReportOptions options{.limit = 30};
  TextOptions text;
  bool json = false;
  bool events = false;
  bool cxx = false;
  std::optional<NamePattern> filter, object;

  explicit Flags(const std::string& name) {
    std::istringstream words(name);
    for (std::string word; std::getline(words, word, '.');) apply(word);
  }
  void apply(const std::string& word) {
    static const std::map<std::string, Grouping> kBy = {
        {"by-object", Grouping::kObject}, {"by-line", Grouping::kLine}, {"by-process", Grouping::kProcess}};
    if (kBy.contains(word)) options.by = kBy.at(word);
    if (word == "sort-name") options.order = RowOrder::kName;
    if (word == "sort-object") options.order = RowOrder::kObject;
    if (word.starts_with("limit-")) options.limit = std::stoul(word.substr(6));
    if (word.starts_with("min-share-")) options.min_share = std::stod(word.substr(10)) / 100;
    if (word.starts_with("width-")) text.width = std::stoul(word.substr(6));
    if (word == "color") text.color = true;
    if (word == "json") json = true;
    if (word == "events") events = true;
    if (word == "cxx") cxx = true;
    if (word == "inlines") options.lines.inlines = true;
    if (word.starts_with("filter-")) filter = *NamePattern::compile(word.substr(7));
    if (word.starts_with("object-")) object = *NamePattern::compile(word.substr(7));
    if (word.starts_with("names-")) text.names = name_style_of(word.substr(6));
  }
};

std::string rendered(const std::string& name) {
  Flags flags(name);
  Result<Profile> profile = load_profile(flags.cxx ? sample_cxx_file() : sample_file(flags.events));
  if (!profile) return profile.error().text;
  if (flags.filter) flags.options.filter = &*flags.filter;
  if (flags.object) flags.options.object = &*flags.object;
  Report report = make_report(*profile, FakeSymbolizer::open, flags.options);
  return flags.json ? json_report(*profile, report) : text_report(*profile, report, flags.text);
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IsUnchanged) {
  std::string path = std::string(GOLDEN_DIRECTORY) + "/" + GetParam();
  std::string actual = rendered(GetParam());
  if (getenv("PCTALLY_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << actual;
  std::ostringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(expected.str(), actual) << "PCTALLY_UPDATE_GOLDEN=1 writes " << path << " anew";
}

INSTANTIATE_TEST_SUITE_P(
    Report, Golden,
    testing::Values("report.txt", "report.by-object.txt", "report.by-line.limit-12.txt",
                    "report.by-process.txt", "report.sort-name.min-share-2.txt",
                    "report.sort-object.limit-8.txt", "report.limit-5.color.width-72.txt", "report.json",
                    "report.by-object.json", "report.by-line.limit-3.json", "report.by-process.json",
                    "report.events.limit-8.txt", "report.events.by-line.limit-3.json",
                    "report.by-line.inlines.limit-6.json", "report.cxx.filter-put.txt",
                    "report.object-libc.limit-5.json", "report.filter-f1.txt", "report.cxx.txt",
                    "report.cxx.names-full.txt", "report.cxx.names-linkage.txt",
                    "report.cxx.by-line.width-80.txt", "report.cxx.limit-4.json"),
    [](const auto& test) {
      std::string name = test.param;
      for (char& byte : name)
        if (!isalnum(byte)) byte = '_';
      return name;
    });

// What a hostile name must never get to: any control byte but the newline, or a C1 control, in
// any text report.
TEST(Golden, NoTextReportHoldsAControlByte) {
  for (const char* name :
       {"report", "report.by-object", "report.by-line.limit-0", "report.by-process", "report.json"})
    for (std::string text = rendered(name); char byte : text)
      EXPECT_TRUE(byte == '\n' || (byte & 0xe0) != 0) << name << " " << int{byte};
}

}  // namespace
}  // namespace pctally
