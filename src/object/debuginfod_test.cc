#include "object/debuginfod.h"

#include <gtest/gtest.h>

#include <sys/prctl.h>

#include <cerrno>

#include "object/fetched_symbolizer.h"
#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

using Urls = std::vector<std::string>;

TEST(DebuginfodServers, AreAskedByHttpsOrOnThisMachine) {
  const auto servers =
      parse_debuginfod_servers(" https://a.example/  http://127.0.0.1:8002 http://[::1]:1/x ");
  ASSERT_TRUE(servers) << servers.error().text;
  EXPECT_EQ(*servers, (Urls{"https://a.example/", "http://127.0.0.1:8002", "http://[::1]:1/x"}));
  EXPECT_TRUE(parse_debuginfod_servers("http://localhost:80 http://127.8.9.1/"));
  EXPECT_TRUE(parse_debuginfod_servers("")->empty());
  for (const char* refused :
       {"http://a.example", "http://127.0.0.1.a.example", "http://127.0.0.1@a.example", "http://a@127.0.0.1",
        "ftp://127.0.0.1", "file:///tmp", "https://", "https:///x", "HTTP://127.0.0.1", "127.0.0.1",
        "http://localhost.a", "http://127.0.0.1\\@a.example", "https://a\tb", "http://[::2]", "http://"}) {
    const auto answer = parse_debuginfod_servers(std::string("https://good.example ") + refused);
    ASSERT_FALSE(answer) << refused;
    EXPECT_EQ(answer.error().code, EINVAL);
    EXPECT_NE(std::string(answer.error().text).find(" is refused"), std::string::npos);
  }
}

TEST(Debuginfod, WithoutTimeAsksNobody) {
  Debuginfod servers({"http://127.0.0.1:1"}, {.file_bytes = 1, .seconds = 0});
  const auto found = servers.debug_information(std::vector<uint8_t>{1, 2}, "a");
  ASSERT_FALSE(found);
  EXPECT_EQ(servers.failure(), "the time is up");
}

/// Else there is no worker.
bool filters_calls() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

/// What a server has sent is read by a worker, although the object is the caller's own.
TEST(FetchedDebugInformation, GivesAnObjectItsLines) {
  if (!filters_calls()) GTEST_SKIP() << "this kernel, or emulator, filters no calls";
  TemporaryDirectory directory;
  for (const char* name : {"inlined", "linked"})
    std::filesystem::copy_file(fixture(name), directory / name);  // away from the link's file
  ExecutableIdentity identity = identity_of(directory / "linked");
  const auto symbol = listed_symbol(fixture("inlined"), "_ZN4deep9outermostEi");
  const std::vector<uint64_t> position{position_of(directory / "linked", symbol.value)};
  EXPECT_TRUE(Symbolizer::open(identity)->frames(position).at(0).empty());
  WorkerSymbolizer fetched(identity, directory / "inlined");
  EXPECT_EQ(fetched.name(position).at(0).function, "deep::outermost(int)") << fetched.problem();
  ASSERT_FALSE(fetched.frames(position).at(0).empty());
  EXPECT_NE(fetched.frames(position).at(0).back().line, 0u);
  identity.path += ".gone";
  WorkerSymbolizer gone(identity, directory / "inlined");
  EXPECT_EQ(gone.name(position).at(0).function, "deep::outermost(int)") << "by the debug information alone";
}

/// It has to prove that it belongs to the object.
TEST(FetchedDebugInformation, OfAnotherObjectIsNotTaken) {
  if (!filters_calls()) GTEST_SKIP() << "this kernel, or emulator, filters no calls";
  TemporaryDirectory directory;
  std::filesystem::copy_file(fixture("linked"), directory / "linked");
  const std::vector<uint64_t> position{
      position_of(directory / "linked", listed_symbol(fixture("inlined"), "_ZN4deep9outermostEi").value)};
  WorkerSymbolizer fetched(identity_of(directory / "linked"), fixture("layout"));
  EXPECT_TRUE(fetched.frames(position).at(0).empty());
}

}  // namespace
}  // namespace pctally
