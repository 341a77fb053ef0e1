#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/fake_symbolizer_for_test.h"
#include "sample_profile.h"
#include "tool/command.h"

namespace pctally {

std::unique_ptr<Symbolizer> Symbolizer::open(const ExecutableIdentity& identity) {
  return FakeSymbolizer::open(identity);
}

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// A directory of its own as current directory, and the command run in a child as the tool runs it.
class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pctally-report-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(directory_);
    for (const char* variable : {"NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(variable);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(directory_);
  }

  static void put(const std::string& name, const std::vector<unsigned char>& bytes) {
    std::ofstream(name).write(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::streamsize>(bytes.size()));
  }
  static std::string get(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
  }
  static int open_for_writing(const std::string& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }

  static Outcome run(std::vector<std::string> words, int out = -1) {
    pid_t child = fork();
    if (child == 0) {
      dup2(out >= 0 ? out : open_for_writing("out.txt"), STDOUT_FILENO);
      dup2(open_for_writing("err.txt"), STDERR_FILENO);
      words.insert(words.begin(), "report");
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      _exit(run_report(static_cast<int>(words.size()), argv.data()));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, get("out.txt"), get("err.txt")};
  }

 private:
  std::string directory_;
  std::filesystem::path before_;
};

TEST_F(ReportCommand, ReadsTheNamedFile) {
  put("a.pct", sample_file());
  Outcome outcome = run({"a.pct"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("self time"), HasSubstr("\nticks     ")));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(ReportCommand, TakesTheNewestAndSaysWhich) {
  namespace fs = std::filesystem;
  put("new.pct", sample_file());
  put("old.pct", sample_file());
  put("newer.txt", {});
  fs::last_write_time("old.pct", fs::last_write_time("new.pct") - std::chrono::hours(1));
  Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "pctally: reading new.pct\n");
}

TEST_F(ReportCommand, WithoutAnyFileSaysHowToMakeOne) {
  Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("pctally: no *.pct file"), HasSubstr("pctally record")));
}

TEST_F(ReportCommand, UnreadableInputIsExit4) {
  put("bad.pct", {'x', 'y'});
  EXPECT_EQ(run({"bad.pct"}).code, 4);
  EXPECT_EQ(run({"missing.pct"}).code, 4);
  EXPECT_EQ(run({"."}).code, 4);
  EXPECT_EQ(run({"missing.pct", "gone.pct"}).code, 4);
  EXPECT_THAT(run({"bad.pct"}).err, HasSubstr("bad.pct is no profile"));
  EXPECT_THAT(run({"bad.pct"}).out, IsEmpty());
}

TEST_F(ReportCommand, WrongUsageIsExit2InOneLine) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--by", "day"},        {"--sort", "x"},        {"--limit", "-1"},
      {"--limit", "many"},    {"--min-share", "101"}, {"--color", "maybe"},
      {"--names", "mangled"}, {"--frobnicate"},       {"--by"}};
  for (const std::vector<std::string>& words : wrong) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << words[0];
    EXPECT_THAT(outcome.err, StartsWith("pctally: ")) << words[0];
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(ReportCommand, AFullDiskIsExit125) {
  put("a.pct", sample_file());
  int full = open("/dev/full", O_WRONLY);
  Outcome outcome = run({"a.pct"}, full);
  close(full);
  EXPECT_EQ(outcome.code, 125);
  EXPECT_THAT(outcome.err, StartsWith("pctally: cannot write"));
}

TEST_F(ReportCommand, AClosedPipeIsExit125) {
  put("a.pct", sample_file());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  Outcome outcome = run({"--json", "a.pct"}, ends[1]);
  close(ends[1]);
  EXPECT_EQ(outcome.code, 125);
  EXPECT_THAT(outcome.err, IsEmpty()) << "whoever reads has seen enough";
}

TEST_F(ReportCommand, ColorsOnlyWhenAsked) {
  put("a.pct", sample_file());
  EXPECT_THAT(run({"a.pct"}).out, Not(HasSubstr("\033[")));
  EXPECT_THAT(run({"a.pct", "--color", "always"}).out, HasSubstr("\033["));
  setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_THAT(run({"a.pct"}).out, HasSubstr("\033["));
  EXPECT_THAT(run({"a.pct", "--color=never"}).out, Not(HasSubstr("\033[")));
  setenv("NO_COLOR", "1", 1);
  EXPECT_THAT(run({"a.pct"}).out, Not(HasSubstr("\033[")));
}

TEST_F(ReportCommand, WithoutUtf8ItsSignsAreAscii) {
  put("a.pct", sample_file());
  setenv("LC_ALL", "C.UTF-8", 1);
  const std::string utf8 = run({"a.pct"}).out;
  EXPECT_THAT(utf8, HasSubstr("share      ± "));
  setenv("LC_ALL", "C", 1);
  const std::string ascii = run({"a.pct"}).out;
  EXPECT_THAT(ascii, HasSubstr("share     +- "));
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char byte) { return (byte & 0x80) == 0; })) << ascii;
}

TEST_F(ReportCommand, ErrorsCannotSteerTheTerminal) {
  Outcome outcome = run({"\033[2Jx\u009b.pct"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("\\x1b[2Jx\\u{9b}.pct"));
  EXPECT_THAT(run({"--by", "\033[2J"}).err, Not(HasSubstr("\033")));
}

TEST_F(ReportCommand, WhatIsFilteredOutIsOneLine) {
  put("cxx.pct", sample_cxx_file());
  Outcome outcome = run({"cxx.pct", "--filter", "put\\(|log"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("  put(long)  "), HasSubstr("  ns::log  "), Not(HasSubstr("help")),
                                 HasSubstr("\n+5 rows filtered out (58.42 % together, 694 ticks)\n")));
  EXPECT_THAT(run({"cxx.pct", "--object", "nothing"}).out,
              HasSubstr("+9 rows filtered out (100.00 % together"));
  EXPECT_EQ(run({"cxx.pct", "--filter", "a(b"}).code, 2);
  EXPECT_EQ(run({"cxx.pct", "--object", "x", "--by", "process"}).code, 2);
}

TEST_F(ReportCommand, OwnLinesAndWhatIsInside) {
  put("a.pct", sample_file());
  Outcome own = run({"a.pct", "--by", "line", "--own=/src", "--filter", "libc", "--limit", "0"});
  EXPECT_THAT(own.out, AllOf(HasSubstr("  /src/libc.so.6.c:"), HasSubstr("  /src/inlined.h:7 ")));
  Outcome none = run({"a.pct", "--by", "line", "--own=/elsewhere"});
  EXPECT_THAT(none.out, AllOf(HasSubstr("  [sort]  "), Not(HasSubstr("/src/"))));
  Outcome inlines = run({"a.pct", "--by", "line", "--inlines", "--limit", "0"});
  EXPECT_THAT(inlines.out, HasSubstr("  libc.so.6.c:528 < inlined.h:7 "));
  EXPECT_THAT(run({"a.pct", "--own", "--by", "line"}).err, IsEmpty());
  EXPECT_EQ(run({"a.pct", "--own"}).code, 2);
}

TEST_F(ReportCommand, NamesAreShortUnlessAsked) {
  put("cxx.pct", sample_cxx_file());
  EXPECT_THAT(run({"cxx.pct"}).out, AllOf(HasSubstr("  std::map::operator[]  "), HasSubstr("  put(long)  ")));
  EXPECT_THAT(run({"cxx.pct", "--names", "full"}).out, HasSubstr("  void put<long>(long)  "));
  EXPECT_THAT(run({"cxx.pct", "--names=linkage"}).out, HasSubstr("  _Zputl  "));
}

TEST_F(ReportCommand, JsonHasAllRowsUnlessLimited) {
  put("a.pct", sample_file());
  EXPECT_THAT(run({"a.pct", "--json"}).out, HasSubstr("\"hidden_rows\": 0"));
  EXPECT_THAT(run({"a.pct", "--json", "--limit", "2"}).out, Not(HasSubstr("\"hidden_rows\": 0")));
}

}  // namespace
}  // namespace pctally
