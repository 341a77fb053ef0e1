// What a page has not: it says so.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/html/page_data_for_test.h"
#include "report/html/parts.h"
#include "report/rollup.h"
#include "report/text.h"

namespace pctally {
namespace {

using testing::HasSubstr;

TEST(HtmlReport, PartsOfItsPathsAddUpToAllTicks) {
  Profile profile = profile_with_paths();
  profile.paths.no_room = 4;
  profile.ledger.counted += 4;
  profile.paths.plane = {{.kind = PathNodeKind::kScope, .folded = 7}};
  const nlohmann::json data = parsed(profile);
  const nlohmann::json& paths = data["paths"];
  EXPECT_EQ(paths["no_room"], 4);
  EXPECT_EQ(paths["no_total"], 7);
  uint64_t ticks = paths["complete"].get<uint64_t>() + paths["no_room"].get<uint64_t>();
  for (const nlohmann::json& cut : paths["cut"]) ticks += cut["ticks"].get<uint64_t>();
  EXPECT_EQ(ticks, data["run"]["ticks"]);
}

/// The edges of a page that has at most so many calls.
nlohmann::json edges_of(const Profile& profile, size_t most_calls) {
  ObjectNames names(profile, &FakeSymbolizer::open);
  FunctionList list(make_report(profile, &FakeSymbolizer::open, {}), NameStyle::kShort);
  Texts texts(false);
  HtmlJson data = HtmlJson::object();
  add_call_edges(NamedPaths(profile, names, NamedPaths::Detail::kInlinedCode), 1, most_calls, &list, &texts,
                 &data);
  return nlohmann::json::parse(data.dump(-1));
}

/// f1 calls 20 functions, which all call f2: two of them with two ticks.
TEST(HtmlReport, SaysHowManyCallsAreLeftOut) {
  Profile profile = profile_of("/bin/prog");
  profile.positions = {{0, 0x200, 22}};
  profile.ledger = {.counted = 22, .samples = 22, .weight_squares = 22};
  profile.paths.recorded = true;
  PathTree& tree = profile.paths.context = {{.kind = PathNodeKind::kScope},
                                            {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x100}};
  for (uint32_t i = 0; i < 20; ++i) {
    const uint64_t ticks = i < 2 ? 2 : 1;
    tree.push_back({.parent = 1, .kind = PathNodeKind::kCode, .position = 0x1000 + 0x100 * i});
    tree.push_back({.parent = 2 + 2 * i, .kind = PathNodeKind::kCode, .position = 0x200, .self = ticks});
  }
  EXPECT_EQ(parsed(profile)["edges_left_out"], (nlohmann::json{{"calls", 0}, {"ticks", 0}}));
  const auto calls_of = [](const nlohmann::json& data) { return data["edges"].size() / 6; };
  const nlohmann::json all = edges_of(profile, 1000), few = edges_of(profile, 10),
                       none = edges_of(profile, 0);
  EXPECT_EQ(calls_of(all), 42u) << "from nobody, 2 x 20, and the own code of f2";
  EXPECT_EQ(all["edges_left_out"], (nlohmann::json{{"calls", 0}, {"ticks", 0}}));
  EXPECT_EQ(calls_of(few), 11u);
  EXPECT_EQ(few["edges_left_out"], (nlohmann::json{{"calls", 31}, {"ticks", 1}}));
  EXPECT_EQ(calls_of(none), 1u);
  EXPECT_EQ(none["edges_left_out"], (nlohmann::json{{"calls", 41}, {"ticks", 22}}));
}

/// Nothing in it has a name.
class Nameless : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    if (identity.path != "/lib/stripped.so") return FakeSymbolizer::open(identity);
    return std::make_unique<Nameless>(identity);
  }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    return std::vector<NamedRange>(positions.size(), {"[stripped.so]", 0, UINT64_MAX, "", 0});
  }
};

TEST(HtmlReport, SaysWhyAFunctionHasNoSource) {
  Profile profile = profile_of("/bin/prog");
  profile.executables.push_back({.path = "/lib/stripped.so", .build_id = {}});
  for (const ExecutableKind kind :
       {ExecutableKind::kKernel, ExecutableKind::kVdso, ExecutableKind::kPrivate, ExecutableKind::kStart})
    profile.executables.push_back(
        {.kind = kind, .path = fmt::format("/code{}", static_cast<int>(kind)), .build_id = {}});
  for (uint32_t i = 1; i < profile.executables.size(); ++i) profile.positions.push_back({i, 0x100, 10});
  profile.ledger.counted += 50;
  const HtmlReport report = html_report(profile, &Nameless::open, {});
  const nlohmann::json data = nlohmann::json::parse(data_of(report.page));
  std::set<std::string> reasons;
  for (const auto& [number, reason] : data["no_source"].items()) {
    reasons.insert(reason.get<std::string>());
    for (const nlohmann::json& source : data["sources"])
      EXPECT_NE(std::to_string(source["function"].get<int>()), number);
  }
  EXPECT_EQ(reasons, (std::set<std::string>{
                         "nothing in stripped.so has a name: it is stripped and no debug file was found",
                         "it is kernel code, which cannot be annotated",
                         "it is code that the kernel gives to every process, and in no file",
                         "it was made by a JIT, and its code is in no file",
                         "it is time, not code: exec and dynamic linking, before the first tick"}));
}

TEST(HtmlReport, FunctionsFromAShareOnHaveASource) {
  Profile profile = profile_of("/bin/prog");
  profile.positions = {{0, 0x100, 9901}, {0, 0x200, 49}, {0, 0x300, 50}};
  profile.ledger = {.counted = 10'000, .samples = 10'000, .weight_squares = 10'000};
  const nlohmann::json data = parsed(profile);
  std::set<size_t> have;
  for (const nlohmann::json& source : data["sources"]) have.insert(source["function"].get<size_t>());
  for (size_t i = 0; i < data["functions"].size(); ++i) {
    const double share = data["functions"][i][5].get<double>() / data["run"]["ticks"].get<double>();
    EXPECT_EQ(have.contains(i), share >= data["annotated_from"].get<double>()) << i;
  }
  EXPECT_EQ(have.size(), 2u);
}

TEST(HtmlReport, SaysWhichPartOfTheTimeItsSharesAreOfAsTheTextReportDoes) {
  Profile profile = profile_of("/bin/prog");
  EXPECT_TRUE(parsed(profile)["run"]["sampled_part"].is_null()) << "the CPU time is not known";
  profile.cpu_known = true;
  profile.cpu_user_ns = 102'000'000;
  EXPECT_TRUE(parsed(profile)["run"]["sampled_part"].is_null()) << "2 %";
  profile.cpu_user_ns = 200'000'000;
  EXPECT_EQ(parsed(profile)["run"]["sampled_part"], 0.5);
  EXPECT_THAT(text_report(profile, make_report(profile, &FakeSymbolizer::open, {}), {}),
              HasSubstr("of the 50 % of the CPU time that was sampled"));
}

}  // namespace
}  // namespace pctally
