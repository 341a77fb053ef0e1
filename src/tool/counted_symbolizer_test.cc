#include "tool/counted_symbolizer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/unique_fd.h"
#include "report/fake_symbolizer_for_test.h"
#include "report/names/object_names.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

class Pty {
 public:
  Pty() {
    int master = -1, slave = -1;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    screen_ = UniqueFd(master);
    terminal_ = UniqueFd(slave);
  }
  [[nodiscard]] int terminal() const { return terminal_.get(); }

  /// False if it does not come.
  bool shows(const std::string& text) {
    constexpr int kPatienceMs = 60'000;
    pollfd event{screen_.get(), POLLIN, 0};
    char byte = 0;
    while (!seen_.ends_with(text) && poll(&event, 1, kPatienceMs) > 0 && read(screen_.get(), &byte, 1) == 1)
      seen_ += byte;
    return seen_.ends_with(text);
  }

 private:
  UniqueFd screen_, terminal_;
  std::string seen_;
};

/// Four addresses: ticks at three, which are on paths too, and a caller without ticks.
Profile profile_with_paths() {
  Profile profile;
  profile.executables.push_back({.path = "/bin/prog", .build_id = {}});
  profile.positions = {{0, 0x100, 1}, {0, 0x200, 1}, {0, 0x300, 1}};
  for (uint64_t position : {0x400, 0x300, 0x200, 0x100})
    profile.paths.context.push_back(
        {.parent = PathTreeNode::kNoParent, .kind = PathNodeKind::kCode, .position = position});
  return profile;
}

TEST(CountedSymbolizer, CountsEachAddressOnceHoweverOftenItIsAskedFor) {
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer does not see the thread of the line";
  Pty screen;
  const ProgressLine line(screen.terminal(), 0);
  const Profile profile = profile_with_paths();
  expect_addresses(profile);
  expect_addresses(profile);  // as of another run
  const std::vector<uint64_t> ticks = {0x100, 0x200, 0x300}, all = {0x100, 0x150, 0x200, 0x300, 0x400};
  for (int view = 0; view < 3; ++view) {
    const auto symbolizer = open_counted(identity_of(profile, profile.executables[0]), &FakeSymbolizer::open);
    symbolizer->name(ticks);
  }
  EXPECT_TRUE(screen.shows("names: 3 of 4 addresses"));
  const auto symbolizer = open_counted(identity_of(profile, profile.executables[0]), &FakeSymbolizer::open);
  symbolizer->name(all);
  EXPECT_TRUE(screen.shows("names: 4 of 4 addresses")) << "0x150 is none of them";
  for (int view = 0; view < 3; ++view) symbolizer->frames(ticks);
  EXPECT_TRUE(screen.shows("lines: 3 of 4 addresses"));
}

}  // namespace
}  // namespace pctally
