#include "tool/terminal/progress_line.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr char kErased[] = "\r\033[K";

class OnTerminal : public testing::Test {
 protected:
  void SetUp() override {
    // The library of clocks has a pthread_create of its own, in front of the sanitizer's, which then knows no
    // thread to join.
    if (kSanitized) GTEST_SKIP() << "AddressSanitizer does not see the thread";
  }
  OnTerminal() {
    int master = -1, slave = -1;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    screen_ = UniqueFd(master);
    terminal_ = UniqueFd(slave);
  }

  /// All that is written up to and including `end`; less if that does not come.
  std::string read_until(const std::string& end) {
    constexpr int kPatienceMs = 60'000;
    std::string text;
    pollfd event{screen_.get(), POLLIN, 0};
    char byte = 0;
    while (!text.ends_with(end) && poll(&event, 1, kPatienceMs) > 0 && read(screen_.get(), &byte, 1) == 1)
      text += byte;
    return text;
  }
  /// All that was written so far.
  std::string rest() {
    EXPECT_EQ(write(terminal_.get(), "|", 1), 1);
    return read_until("|");
  }

  UniqueFd screen_, terminal_;
};

TEST_F(OnTerminal, IsRewrittenAndErasedAtTheEnd) {
  {
    const ProgressLine line(terminal_.get(), 0);
    ProgressLine::show("names: 1 of 9 addresses");
    EXPECT_EQ(read_until("addresses"), std::string(kErased) + "pctally: names: 1 of 9 addresses");
    ProgressLine::show("names: 2 of 9 addresses");
    EXPECT_EQ(read_until("addresses"), std::string(kErased) + "pctally: names: 2 of 9 addresses");
  }
  EXPECT_EQ(rest(), std::string(kErased) + "|");
}

TEST_F(OnTerminal, WritesNothingBeforeItsTime) {
  {
    const ProgressLine line(terminal_.get(), 3600 * kNsPerSecond);
    ProgressLine::show("names: 1 of 9 addresses");
    ProgressLine::give_way([] {});
  }
  EXPECT_EQ(rest(), "|");
}

TEST_F(OnTerminal, WritesNothingIfThereIsNothingToSay) {
  { const ProgressLine line(terminal_.get(), 0); }
  EXPECT_EQ(rest(), "|");
}

TEST_F(OnTerminal, GivesWayToMessagesAndComesBack) {
  const ProgressLine line(terminal_.get(), 0);
  ProgressLine::show("reading a.pct");
  read_until("a.pct");
  ProgressLine::give_way([this] { EXPECT_EQ(write(terminal_.get(), "pctally: a message\n", 19), 19); });
  EXPECT_EQ(read_until("a.pct"),
            std::string(kErased) + "pctally: a message\r\n" + kErased + "pctally: reading a.pct");
}

TEST_F(OnTerminal, AnEmptyTextErasesItAtOnce) {
  const ProgressLine line(terminal_.get(), 0);
  ProgressLine::show("reading a.pct");
  read_until("a.pct");
  ProgressLine::show("");
  EXPECT_EQ(rest(), std::string(kErased) + "|");
}

TEST_F(OnTerminal, StaysOnOneLineAndSteersNothing) {
  const winsize narrow{.ws_row = 5, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(terminal_.get(), TIOCSWINSZ, &narrow), 0);
  const ProgressLine line(terminal_.get(), 0);
  ProgressLine::show("reading \033[2J and-a-long-name.pct");
  EXPECT_EQ(read_until("…"), std::string(kErased) + "pctally: reading \\…");
}

TEST(ProgressLine, DoesNothingWhereThereIsNone) {
  EXPECT_FALSE(ProgressLine::exists());
  ProgressLine::show("nobody sees this");
  bool written = false;
  ProgressLine::give_way([&written] { written = true; });
  EXPECT_TRUE(written);
}

TEST(ProgressText, SaysHowFar) {
  EXPECT_EQ(progress_text("names", 12'000, 200'000, "addresses"), "names: 12,000 of 200,000 addresses");
  EXPECT_EQ(progress_text("names", 250'000, 200'000, "addresses"), "names: 250,000 addresses");
}

}  // namespace
}  // namespace pctally
