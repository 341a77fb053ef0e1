#include "object/worker/worker_symbolizer.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/fixtures_for_test.h"
#include "object/object_symbolizer.h"

namespace pctally {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOtherUser = 2000000001, kAnother = 2000000002;

class WorkerSymbolizerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make files of other users";
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) GTEST_SKIP() << "this kernel, or emulator, filters no calls";
  }
  /// A copy of a fixture that belongs to `owner`.
  std::string copy(const std::string& name, uid_t owner) {
    std::string path = directory_ / name;
    fs::copy_file(fixture(name), path);
    EXPECT_EQ(chown(path.c_str(), owner, owner), 0);
    return path;
  }
  /// All over its text.
  static std::vector<uint64_t> positions_in(const std::string& path) {
    std::vector<uint64_t> positions;
    const auto file = open_elf(path);
    for (const ElfSection& section : file->text())
      for (uint64_t at = 0; at < section.size; at += 7) positions.push_back(section.offset + at);
    std::sort(positions.begin(), positions.end());
    return positions;
  }
  static bool has_lines(Symbolizer& names, std::span<const uint64_t> positions) {
    const auto frames = names.frames(positions);
    return std::any_of(frames.begin(), frames.end(), [](const auto& chain) { return !chain.empty(); });
  }
  TemporaryDirectory directory_;
};

std::vector<std::string> text_of(const std::vector<NamedRange>& ranges) {
  std::vector<std::string> lines;
  for (const NamedRange& range : ranges)
    lines.push_back(range.function + ' ' + range.linkage + ' ' + std::to_string(range.start) + ' ' +
                    std::to_string(range.end) + ' ' + std::to_string(range.address));
  return lines;
}

std::vector<std::string> text_of(const std::vector<std::vector<Frame>>& frames) {
  std::vector<std::string> lines;
  for (const auto& chain : frames) {
    lines.emplace_back();
    for (const Frame& frame : chain)
      lines.back() += frame.function + '|' + frame.linkage + '|' + frame.file + ':' +
                      std::to_string(frame.line) + '|' + std::to_string(frame.start_line) + ' ';
  }
  return lines;
}

std::vector<std::string> text_of(const std::vector<std::vector<SymbolName>>& aliases) {
  std::vector<std::string> lines;
  for (const auto& names : aliases) {
    lines.emplace_back();
    for (const SymbolName& name : names) lines.back() += name.function + '|' + name.linkage + ' ';
  }
  return lines;
}

TEST_F(WorkerSymbolizerTest, FramesAreOfTheObjectsOwner) {
  for (const uid_t owner : {kOtherUser, uid_t{0}}) {
    const std::string path = directory_ / std::to_string(owner);
    fs::rename(copy("inlined", owner), path);
    const auto names = Symbolizer::open(identity_of(path));
    EXPECT_TRUE(has_lines(*names, positions_in(path)));
    EXPECT_EQ(names->owner(), owner);
  }
  EXPECT_EQ(Symbolizer::open({.kind = ExecutableIdentity::Kind::kVdso})->owner(), std::nullopt);
}

TEST_F(WorkerSymbolizerTest, SaysWhatReadingTheFileItselfWouldSay) {
  for (const char* name : {"layout", "inlined", "inlined_clang5", "layout_stripped", "libcalls.so"}) {
    if (!exists(fixture(name))) continue;  // no clang
    const std::string path = copy(name, kOtherUser);
    const ExecutableIdentity identity = identity_of(path);
    const auto positions = positions_in(path);
    ASSERT_EQ(open_executable(identity, Trust::kRootOrOurselves), nullptr) << "not in this process";
    const auto worker = Symbolizer::open(identity), here = open_executable(identity, Trust::kAnybody);
    EXPECT_EQ(worker->object_name(), here->object_name());
    EXPECT_EQ(text_of(worker->name(positions)), text_of(here->name(positions))) << name;
    EXPECT_EQ(text_of(worker->frames(positions)), text_of(here->frames(positions))) << name;
    std::vector<uint64_t> starts;
    for (const NamedRange& range : here->name(positions))
      if (starts.empty() || starts.back() < range.start) starts.push_back(range.start);
    EXPECT_EQ(text_of(worker->aliases(starts)), text_of(here->aliases(starts))) << name;
    EXPECT_EQ(worker->problem(), here->problem()) << name;
    EXPECT_EQ(worker->line_problem(), here->line_problem()) << name;
    const CodeBytes code = worker->code(positions.front(), positions.front() + 64),
                    expected = here->code(positions.front(), positions.front() + 64);
    EXPECT_EQ(code.bytes, expected.bytes);
    EXPECT_EQ(worker->digests(positions), here->digests(positions));
    if (std::string(name) == "inlined_clang5") {
      EXPECT_FALSE(worker->digests(positions).empty());
    }
    EXPECT_EQ(code.address, expected.address);
    EXPECT_EQ(code.changed_unix_ns, expected.changed_unix_ns);
    EXPECT_EQ(worker->position(code.address), positions.front());
    EXPECT_FALSE(worker->position(UINT64_MAX).has_value());
  }
}

TEST_F(WorkerSymbolizerTest, IsToldWhyThereAreNoNames) {
  ExecutableIdentity identity = identity_of(copy("layout", kOtherUser));
  identity.build_id[0] ^= 1;
  const auto names = Symbolizer::open(identity);
  EXPECT_NE(names->problem().find("build id differs"), std::string::npos) << names->problem();
}

TEST_F(WorkerSymbolizerTest, GetsTheOwnersDebugFile) {
  const std::string path = copy("linked", kOtherUser);
  copy("linked.debug", kOtherUser);
  EXPECT_TRUE(has_lines(*Symbolizer::open(identity_of(path)), positions_in(path)));
}

TEST_F(WorkerSymbolizerTest, GetsWhatRootLetsEverybodyRead) {
  const std::string path = copy("linked", kOtherUser), debug = copy("linked.debug", 0);
  ASSERT_EQ(chmod(debug.c_str(), 0644), 0);
  EXPECT_TRUE(has_lines(*Symbolizer::open(identity_of(path)), positions_in(path)));
  ASSERT_EQ(chmod(debug.c_str(), 0600), 0);
  EXPECT_FALSE(has_lines(*Symbolizer::open(identity_of(path)), positions_in(path)));
}

TEST_F(WorkerSymbolizerTest, GetsNoThirdUsersFile) {
  const std::string path = copy("linked", kOtherUser);
  copy("linked.debug", kAnother);
  EXPECT_FALSE(has_lines(*Symbolizer::open(identity_of(path)), positions_in(path)));
}

TEST_F(WorkerSymbolizerTest, GetsNoSplitUnits) {
  const std::string path = copy("inlined_split", kOtherUser);
  const auto names = Symbolizer::open(identity_of(path));
  (void)names->frames(positions_in(path));
  EXPECT_NE(names->line_problem().find(".dwo is not read of another user's file"), std::string::npos)
      << names->line_problem();
}

TEST_F(WorkerSymbolizerTest, ItsDeathLeavesNamesMissing) {
  const std::string path = copy("layout", kOtherUser);
  const auto names = Symbolizer::open(identity_of(path));
  const auto positions = positions_in(path);
  ASSERT_EQ(names->problem(), "");
  const std::string list = read_file("/proc/self/task/" + std::to_string(gettid()) + "/children");
  if (list.empty()) GTEST_SKIP() << "this kernel does not list children";
  ASSERT_EQ(kill(std::stoi(list), SIGKILL), 0);
  const auto ranges = names->name(positions);
  ASSERT_EQ(ranges.size(), positions.size());
  EXPECT_EQ(ranges.front().function, "[layout]");
  EXPECT_NE(names->problem().find("another user's file"), std::string::npos) << names->problem();
  EXPECT_EQ(names->frames(positions).size(), positions.size()) << "and nothing is asked of it any more";
}

TEST_F(WorkerSymbolizerTest, AnObjectThatBecameRootsIsNotHandedOut) {
  const std::string path = copy("layout", kOtherUser);
  const ExecutableIdentity identity = identity_of(path);
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  WorkerSymbolizer names(identity);
  EXPECT_NE(names.problem(), "");
}

TEST(WorkerMessage, ADamagedOneGivesNothingBeyondItsEnd) {
  MessageWriter numbers;
  numbers.number(UINT64_MAX);
  const std::vector<unsigned char> bytes(numbers.bytes().begin(), numbers.bytes().end());
  MessageReader text(bytes), list(bytes);
  EXPECT_EQ(text.text(), "");
  EXPECT_TRUE(list.numbers().empty());
  for (MessageReader* message : {&text, &list}) {
    EXPECT_TRUE(message->damaged());
    EXPECT_EQ(message->number(), 0u);
  }
}

TEST(WorkerMessage, OneThatAnnouncesTooMuchIsRefused) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd here(ends[0]), there(ends[1]);
  const uint64_t length = kMostMessageBytes + 1;
  ASSERT_EQ(write(there.get(), &length, sizeof length), static_cast<ssize_t>(sizeof length));
  EXPECT_FALSE(receive_message(here.get(), 1000).has_value());
}

}  // namespace
}  // namespace pctally
