#include "report/html/html_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "report/diff/diff_for_test.h"
#include "report/html/page_data_for_test.h"
#include "report/html/texts.h"
#include "report/one_unwind_entry_for_test.h"
#include "report/rollup.h"

namespace pctally {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(HtmlReport, HasEveryRowOfTheReportToTheTick) {
  const Profile profile = profile_of("/bin/prog");
  const nlohmann::json data = parsed(profile);
  const Report report = make_report(profile, &FakeSymbolizer::open, {});
  ASSERT_EQ(data["functions"].size(), report.rows.size());
  uint64_t ticks = 0;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    EXPECT_EQ(data["texts"][data["functions"][i][0].get<size_t>()], report.rows[i].short_function);
    EXPECT_EQ(data["functions"][i][5], report.rows[i].ticks);
    ticks += data["functions"][i][5].get<uint64_t>();
  }
  EXPECT_EQ(ticks, data["run"]["ticks"]);
  EXPECT_EQ(data["run"]["effective_samples"], report.account.effective_samples);
}

TEST(HtmlReport, WithoutScriptsSaysHowManyRowsAreMissing) {
  Profile profile = profile_of("/bin/prog");
  EXPECT_THAT(html_report(profile, &FakeSymbolizer::open, {}).page, Not(HasSubstr("together; scripts")));
  profile.positions.clear();
  for (uint64_t i = 0; i < 210; ++i) profile.positions.push_back({0, 0x100 * i, 1});
  profile.ledger = {.counted = 210, .samples = 210, .weight_squares = 210};
  EXPECT_THAT(html_report(profile, &FakeSymbolizer::open, {}).page,
              HasSubstr("</table>\n<p>10 more rows with 4.76 % together; scripts show all.</p>"));
}

TEST(HtmlReport, KnowsWhereAFunctionBeginsAndWhereItsTicksLie) {
  const nlohmann::json data = parsed(profile_of("/bin/prog"));
  EXPECT_EQ(data["texts"][data["functions"][0][3].get<size_t>()], "/src/prog.c");
  EXPECT_EQ(data["functions"][0][4], 0x10);
  uint64_t ticks = 0;
  for (const auto& bin : data["bins"]["0"]) ticks += bin.get<uint64_t>();
  EXPECT_EQ(ticks, 70u);
  EXPECT_EQ(data["bins"]["0"][18], 10) << "the middle of the function";
}

/// "parent<function ticks ends; " of each node.
std::string nodes_of(const nlohmann::json& data, const char* tree) {
  std::string text;
  const nlohmann::json& nodes = data[tree]["nodes"];
  for (size_t i = 0; i < nodes.size(); i += 4)
    text += fmt::format("{}<{} {} {}; ", nodes[i].get<int>(), name_of(data, nodes[i + 1]),
                        nodes[i + 2].get<int>(), nodes[i + 3].get<int>());
  return text;
}

TEST(HtmlReport, HoldsEveryNodeOfTheCallTreeBehindItsParent) {
  const nlohmann::json data = parsed(profile_with_paths(), {.view = "flame"});
  EXPECT_EQ(nodes_of(data, "from_entry"),
            "-1<f1 95 0; 0<inlined 95 70; 1<f2 25 25; "
            "-1<[path cut where the stack is deeper than its copy] 5 0; 3<f2 5 5; ");
  EXPECT_EQ(nodes_of(data, "small_from_leaf"), "") << "none is left out there";
  EXPECT_EQ(data["view"], "flame");
  EXPECT_EQ(data["functions"][0][9], 0);
  EXPECT_EQ(data["texts"][data["functions"].at(1)[3].get<size_t>()], "/src/prog.c");
  EXPECT_EQ(data["functions"].back()[9], 1) << "what is on stacks alone has no row";
}

/// What is inlined into f2 (at odd positions) is divided between its two callers.
TEST(HtmlReport, SaysWhichNodesOfTheCallTreeAreEstimates) {
  EXPECT_EQ(parsed(profile_with_paths())["from_entry"]["estimates"], nlohmann::json::array());
  Profile profile = profile_with_paths();
  profile.positions = {{0, 0x200, 6}, {0, 0x205, 9}};
  profile.ledger = {.counted = 15, .samples = 15, .weight_squares = 15};
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x110},
                           {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x200, .self = 10},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x310},
                           {.parent = 3, .kind = PathNodeKind::kCode, .position = 0x200, .self = 5}};
  const nlohmann::json data = parsed(profile);
  EXPECT_EQ(nodes_of(data, "from_entry"),
            "-1<f1 10 0; 0<f2 10 4; 1<inlined 6 6; -1<f3 5 0; 3<f2 5 2; 4<inlined 3 3; ");
  EXPECT_EQ(data["from_entry"]["estimates"], (nlohmann::json{2, 5}));
}

/// malloc below many callers, each of them below a ten-thousandth.
TEST(HtmlReport, WhatIsSmallOnEveryPathIsWholeAsWhatRan) {
  Profile profile = profile_of("/bin/prog");
  profile.positions = {{0, 0x200, 20'000}, {0, 0x100, 180'000}};
  profile.ledger = {.counted = 200'000, .samples = 200'000, .weight_squares = 200'000};
  profile.paths.recorded = true;
  PathTree& tree = profile.paths.context = {
      {.kind = PathNodeKind::kScope},
      {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x100, .self = 180'000}};
  for (uint64_t i = 0; i < 2000; ++i) {
    const auto caller = static_cast<uint32_t>(tree.size());
    tree.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = 0x1000 + 0x100 * i});
    tree.push_back({.parent = caller, .kind = PathNodeKind::kCode, .position = 0x200, .self = 10});
  }
  const nlohmann::json data = parsed(profile);
  EXPECT_EQ(data["from_entry"]["nodes"].size(), 4u) << "f1";
  EXPECT_EQ(data["from_entry"]["left_out"], 4000);
  EXPECT_EQ(nodes_of(data, "small_from_leaf"), "-1<f2 20000 0; ");
  EXPECT_EQ(data["small_from_leaf"]["left_out"], 2000) << "its callers";
}

/// A choice has all ticks of a function at its first byte, which is no place where they were.
TEST(HtmlReport, MakesUpNoPlacesOfAChoiceOfPaths) {
  Profile profile = two_symbols_of_one_entry(0, 20);
  EXPECT_FALSE(parsed(profile)["bins"].empty());
  EXPECT_FALSE(parsed(profile)["sources"][0]["blocks"].empty());
  for (const Profile& chosen : {only_program_a(profile), through_f1(profile)}) {
    const nlohmann::json data = parsed(chosen);
    EXPECT_TRUE(data["bins"].empty());
    ASSERT_FALSE(data["sources"].empty());
    for (const nlohmann::json& source : data["sources"]) {
      EXPECT_TRUE(source["blocks"].empty());
      EXPECT_EQ(source["problem"], "the paths that were chosen do not say where in a function its ticks are");
    }
  }
  profile.paths.recorded = false;  // record --scope without -g: a node for each place
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x310, .self = 20}};
  EXPECT_FALSE(parsed(only_program_a(profile))["bins"].empty());
}

TEST(HtmlReport, HasARowForSymbolsOfOneUnwindEntryInAChoice) {
  const nlohmann::json data = parsed(only_program_a(two_symbols_of_one_entry(8, 12)));
  EXPECT_EQ(std::ranges::count(data["texts"], "f2, f3"), 1);
}

TEST(HtmlReport, OfFoldedPathsTotalsAndCallsHaveBothEnds) {
  Profile profile = profile_with_paths();
  profile.paths.context[1].self = 40;
  profile.paths.context[1].folded = 30;
  const nlohmann::json data = parsed(profile);
  EXPECT_EQ(name_of(data, 1), "f2");
  EXPECT_EQ(data["functions"][1][6], 30);
  EXPECT_EQ(data["functions"][1][7], 60);
  EXPECT_EQ(data["on_stack"]["1"], (nlohmann::json{30, 60}));
  std::string text;
  const nlohmann::json& edges = data["edges"];
  for (size_t i = 0; i < edges.size(); i += 6)
    if (edges[i].get<int>() >= 0 && edges[i + 1] == 1)
      text += fmt::format("{} {} to {}; ", name_of(data, edges[i]), edges[i + 4].get<int>(),
                          edges[i + 5].get<int>());
  EXPECT_EQ(text, "inlined 25 to 55; [path cut where the stack is deeper than its copy] 5 to 5; ");
}

TEST(HtmlReport, OfFoldedPathsWhatRanIsTheFrameThatStandsForThem) {
  Profile profile = profile_with_paths();
  profile.paths.context[1].self = 40;
  profile.paths.context[1].folded = 30;
  const nlohmann::json data = parsed(profile);
  const nlohmann::json& nodes = data["from_entry"]["nodes"];
  uint64_t ticks = 0, own = 0;
  for (size_t i = 0; i < nodes.size(); i += 4) {
    if (nodes[i].get<int>() < 0) ticks += nodes[i + 2].get<uint64_t>();
    own += nodes[i + 3].get<uint64_t>();
  }
  EXPECT_EQ(own, ticks);
}

TEST(HtmlReport, HasTheProgramsOfAllRunsInItsTitle) {
  Profile profile = profile_of("/bin/prog");
  profile.command.clear();
  EXPECT_EQ(parsed(profile)["title"], "(program not recorded)");
  for (const char* name : {"/bin/a", "b", "/usr/bin/a", "c", "d"})
    profile.runs.emplace_back().command = {name, "-x"};
  EXPECT_EQ(parsed(profile)["title"], "a, b, c, d");
  profile.runs.emplace_back().command = {"e"};
  EXPECT_EQ(parsed(profile)["title"], "a, b, c, 2 more");
}

TEST(HtmlReport, NamesFoldedPathsBesideThoseThatAreCut) {
  Profile profile = profile_with_paths();
  profile.paths.context[1].folded = 30;
  const std::string page = html_report(profile, &FakeSymbolizer::open, {}).page;
  EXPECT_EQ(nlohmann::json::parse(data_of(page))["paths"]["folded"], 30);
  EXPECT_NE(page.find(" folded into their callers"), std::string::npos);
}

/// "caller>callee file:line ticks; " of each call, and of each function's own code.
std::string calls_of(const nlohmann::json& data) {
  std::string text;
  const nlohmann::json& edges = data["edges"];
  for (size_t i = 0; i < edges.size(); i += 6) {
    if (edges[i].get<int>() < 0) continue;
    const bool is_call = edges[i + 1].get<int>() >= 0;
    text += fmt::format("{}>{} {}:{} {}; ", name_of(data, edges[i]),
                        is_call ? name_of(data, edges[i + 1]) : "itself",
                        data["texts"][edges[i + 2].get<size_t>()].get<std::string>(), edges[i + 3].get<int>(),
                        edges[i + 4].get<int>());
  }
  return text;
}

TEST(HtmlReport, HoldsTheCallsWithTheirLines) {
  const nlohmann::json data = parsed(profile_with_paths());
  EXPECT_EQ(
      calls_of(data),
      "f1>inlined /src/prog.c:17 95; inlined>itself :0 70; f2>itself :0 30; inlined>f2 /src/inlined.h:7 25; "
      "[path cut where the stack is deeper than its copy]>f2 :0 5; ");
  EXPECT_EQ(data["on_stack"]["0"], (nlohmann::json{95, 95}));
}

/// As report --callers has it.
TEST(HtmlReport, CallsInlinedCodeThatRanACallee) {
  Profile profile = profile_with_paths();
  profile.positions = {{0, 0x100, 70}, {0, 0x205, 20}, {0, 0x210, 5}};
  const nlohmann::json data = parsed(profile);
  EXPECT_EQ(calls_of(data),
            "f1>inlined /src/prog.c:17 95; inlined>itself :0 90; inlined>f2 /src/inlined.h:7 25; "
            "f2>inlined /src/prog.c:32 20; f2>itself :0 10; "
            "[path cut where the stack is deeper than its copy]>f2 :0 5; ");
}

/// Line 1 of `source` is all the code.
class OneSource : public FakeSymbolizer {
 public:
  OneSource(const ExecutableIdentity& identity, std::string source)
      : FakeSymbolizer(identity), source_(std::move(source)) {}
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    return std::vector<std::vector<Frame>>(positions.size(), {{"f", source_, 1, ""}});
  }

 private:
  std::string source_;
};

HtmlReport report_of_source(const std::string& source, const HtmlOptions& options = {}) {
  const auto open = [&source](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<OneSource>(identity, source);
  };
  return html_report(profile_of("/bin/prog"), open, options);
}

/// A file with one line of that text.
std::string file_with(const std::string& text, mode_t mode) {
  std::string path = testing::TempDir() + "/html_report_test.c";
  unlink(path.c_str());
  std::ofstream(path) << text << '\n';
  chmod(path.c_str(), mode);
  return path;
}

TEST(HtmlReport, EveryTickOfAHotFunctionIsAtALine) {
  const std::string path = file_with("int the_line;", 0644);
  const HtmlReport report = report_of_source(path);
  const nlohmann::json data = nlohmann::json::parse(data_of(report.page));
  ASSERT_EQ(data["sources"].size(), 2u);
  uint64_t ticks = 0;
  for (const auto& block : data["sources"][0]["blocks"])
    for (const auto& line : block["lines"]) ticks += line[1].get<uint64_t>();
  EXPECT_EQ(ticks, 70u);
  EXPECT_EQ(data["files"][0]["lines"], (nlohmann::json{1, "int the_line;"}));
  EXPECT_EQ(report.files, std::vector<std::string>{path});
}

TEST(HtmlReport, NoLineIsPutInIfSourcesAreLeftOut) {
  const HtmlReport report = report_of_source(file_with("int the_line;", 0644), {.sources = false});
  EXPECT_EQ(report.page.find("the_line"), std::string::npos);
  EXPECT_TRUE(report.files.empty());
}

// Debug information may name anything; the page may go to anybody.
TEST(HtmlReport, NoLineIsPutInOfAFileThatNotEverybodyMayRead) {
  const HtmlReport report = report_of_source(file_with("int the_line;", 0600));
  EXPECT_EQ(report.page.find("the_line") != std::string::npos, geteuid() != 0) << "root's own is not for all";
  for (const char* path : {"/etc/shadow", "/dev/zero", "/proc/self/environ", "/etc"}) {
    const HtmlReport other = report_of_source(path);
    EXPECT_TRUE(other.files.empty()) << path;
    EXPECT_EQ(data_of(other.page).find("root:"), std::string::npos) << path;
  }
  const std::string fifo = testing::TempDir() + "/html_report_test.fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0644), 0);
  EXPECT_TRUE(report_of_source(fifo).files.empty());
  unlink(fifo.c_str());
}

TEST(HtmlReport, FetchesNothingAndRunsItsOwnScriptAlone) {
  const std::string page = html_report(profile_of("/bin/prog"), &FakeSymbolizer::open, {}).page;
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page.find("@PCTALLY_"), std::string::npos);
  for (const char* word : {"https://", "<link", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(count(page, word), 0u) << word;
  EXPECT_EQ(count(page, "http://"), count(page, "http://www.w3.org/")) << "names of XML, not places";
  EXPECT_LE(page.size(), 300'000u);
}

/// The comparison, in the page of the new run.
nlohmann::json compared(const Profile& before, const Profile& after, const DiffOptions& options = {}) {
  const Diff diff = diff_of({before}, {after}, options);
  return parsed(after, {.names = options.names, .diff = &diff});
}

/// "row: function function; " of each row.
std::string functions_of_rows(const nlohmann::json& data) {
  std::set<std::string> rows;
  for (const auto& row : data["diff"]["rows"]) {
    std::string text = row["name"].get<std::string>() + ":";
    for (const auto& function : row["functions"]) text += ' ' + name_of(data, function);
    rows.insert(text + "; ");
  }
  std::string all;
  for (const std::string& row : rows) all += row;
  return all;
}

TEST(HtmlReport, RowsOfAComparisonNameTheFunctionsThatTheyCompareAsOne) {
  // Two overloads, two static functions, two clones. The new side has one of the overloads, which so needs no
  // arguments.
  const std::vector<uint64_t> ticks = {0, 10, 20, 0, 300, 400, 50, 30, 40};
  std::vector<uint64_t> new_ticks = ticks;
  new_ticks[2] = 0;
  const Profile before = run_of(ticks, {1}, "/bin/cxx"), after = run_of(new_ticks, {2}, "/bin/cxx");
  EXPECT_EQ(functions_of_rows(compared(before, after)),
            "help: help [0x500] help [0x400]; ns::log: ns::log.cold ns::log; put(int): put; put(long):; "
            "read_all: read_all; ");
  EXPECT_EQ(functions_of_rows(compared(before, after, {.names = NameStyle::kFull})),
            "help: help help; ns::log(int, char const*): ns::log(int, char const*) [clone .cold] "
            "ns::log(int, char const*); read_all: read_all.cold; void put<int>(int): void put<int>(int); "
            "void put<long>(long):; ");
  EXPECT_EQ(functions_of_rows(compared(run_of({0, 5, 7}), run_of({0, 5}))), "f1: f1; f2:; ");
}

TEST(HtmlReport, RowsOfAComparisonHaveTheFunctionsOfAllNamesakesOfTheirObject) {
  const Profile before = run_of({0, 500});
  Profile after = before;
  after.executables.push_back({ExecutableKind::kFile, "/z/y", {7}, 0});
  after.positions.push_back({1, 0x108, 400});
  after.ledger.counted = after.ledger.samples = 900;
  EXPECT_EQ(functions_of_rows(compared(before, after)), "f1: f1 f1; ");
}

TEST(HtmlReport, AComparisonHasItsLimits) {
  const Profile before = run_of({0, 500, 9000}), after = run_of({0, 500, 90'000});
  const Diff diff = diff_of({before}, {after});
  const LimitResult exceeded = check_limit(diff, *parse_limit("seconds(f2) > +10%")).value();
  const nlohmann::json limits = parsed(after, {.diff = &diff, .limits = {exceeded}})["diff"]["limits"];
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits[0]["outcome"], "FAIL");
  EXPECT_EQ(limits[0]["text"], text_of(exceeded));
}

TEST(HtmlReport, AmountsOfAComparisonHaveTheUnitThatFitsThem) {
  const Profile before = with_paths(run_of({0, 500, 9000})), after = with_paths(run_of({0, 500, 12'000}));
  const nlohmann::json runs = compared(before, after)["diff"];
  const nlohmann::json units = compared(before, after, {.work = 1e6})["diff"];
  EXPECT_EQ(runs["unit"], "ms");
  EXPECT_EQ(units["unit"], "us");
  for (const char* change : {"amount", "total"})
    for (const char* figure : {"before", "after", "difference", "low", "high"})
      EXPECT_NEAR(1e3 * units["rows"][0][change][figure].get<double>(),
                  runs["rows"][0][change][figure].get<double>(), 1e-6)
          << change << ' ' << figure;
  EXPECT_NEAR(runs["rows"][0]["amount"]["after"].get<double>(), 12'000, 1e-6);
  EXPECT_EQ(units["rows"][0]["share_percent"], runs["rows"][0]["share_percent"]);
}

TEST(HtmlReport, OfRunsWithOtherPeriodsTicksAreWhatTheyStoodFor) {
  Profile profile = profile_of("/bin/prog");
  EXPECT_EQ(parsed(profile)["run"]["unit"], "tick");
  EXPECT_EQ(parsed(profile)["run"]["recorded"], 100);
  profile.runs.resize(2);
  profile.runs[0].ledger.counted = profile.runs[1].ledger.counted = 7;
  profile.runs[0].period_ns = 3;
  profile.runs[1].period_ns = 5;
  profile.period_ns = 1;
  const nlohmann::json run = parsed(profile)["run"];
  EXPECT_EQ(run["unit"], "nanosecond");
  EXPECT_EQ(run["recorded"], 14);
  EXPECT_EQ(run["recorded_unit"], "tick");
  EXPECT_EQ(run["runs"], 2);
  profile.runs.clear();  // of another tool
  profile.ledger.samples = 3;
  EXPECT_EQ(parsed(profile)["run"]["recorded"], 3);
  EXPECT_EQ(parsed(profile)["run"]["recorded_unit"], "sample");
}

TEST(HtmlReport, NoNameEndsTheScriptItStandsIn) {
  Profile profile = profile_of("/bin/evil");
  profile.command = {"</script><script>alert(1)</script><!--"};
  const HtmlOptions options{.command = true};
  const std::string page = html_report(profile, &FakeSymbolizer::open, options).page;
  const std::string harmless = html_report(profile_of("/bin/prog"), &FakeSymbolizer::open, options).page;
  EXPECT_EQ(count(page, "<script"), count(harmless, "<script"));
  EXPECT_EQ(count(page, "</script"), count(harmless, "</script"));
  EXPECT_EQ(parsed(profile, options)["commands"][0], "'</script><script>alert(1)</script><!--'");
  for (const char* bytes : {"\033", "\xe2\x80\xae", "\xff"}) EXPECT_EQ(page.find(bytes), std::string::npos);
}

TEST(HtmlReport, TheCommandLineIsThereOnlyIfAskedFor) {
  EXPECT_EQ(html_report(profile_of("/bin/prog"), &FakeSymbolizer::open, {}).page.find("--password"),
            std::string::npos);
  EXPECT_EQ(parsed(profile_of("/bin/prog"))["title"], "prog");
  EXPECT_EQ(parsed(profile_of("/bin/prog"))["commands"], nlohmann::json::array());
  EXPECT_EQ(parsed(profile_of("/bin/prog"), {.command = true})["commands"],
            nlohmann::json({"/home/me/prog --password=x"}));
}

TEST(HtmlReport, TheCommandLinesOfAllRunsAreThereOnce) {
  Profile profile = profile_of("/bin/prog");
  profile.command.clear();  // as the runs' differ
  for (const char* argument : {"--token=a", "--token=b", "--token=a"}) {
    ProfileRun run;
    run.command = {"prog", argument};
    profile.runs.push_back(run);
  }
  profile.runs.push_back({});  // not recorded
  profile.runs.push_back(profile.runs[0]);
  profile.runs.back().command = {"@machine"};
  EXPECT_EQ(parsed(profile, {.command = true})["commands"],
            nlohmann::json({"prog --token=a", "prog --token=b", "(the whole machine)"}));
  EXPECT_EQ(html_report(profile, &FakeSymbolizer::open, {.command = true}).command_lines, 2);
}

TEST(HtmlReport, DirectoriesAreLeftOutIfAskedFor) {
  const std::string page =
      html_report(profile_of("/bin/prog"), &FakeSymbolizer::open, {.command = true, .strip_paths = true})
          .page;
  EXPECT_EQ(page.find("/home/me"), std::string::npos);
  EXPECT_EQ(page.find("/src/"), std::string::npos);
}

TEST(HtmlReport, DirectoriesWithABlankAreLeftOutWhole) {
  Profile profile = profile_of("/mnt/Users/Jane Doe/proj/prog");
  profile.executables.push_back(
      {.path = "/opt/prog", .build_id = {}});  // objects have their directories then
  profile.positions.push_back({1, 0x100, 5});
  profile.ledger.outside = 0;
  profile.ledger.counted = 100;
  EXPECT_NE(html_report(profile, &FakeSymbolizer::open, {}).page.find("Jane Doe"), std::string::npos);
  const std::string page = html_report(profile, &FakeSymbolizer::open, {.strip_paths = true}).page;
  EXPECT_EQ(page.find("Doe"), std::string::npos);
  EXPECT_EQ(page.find("Jane"), std::string::npos);
}

}  // namespace
}  // namespace pctally
