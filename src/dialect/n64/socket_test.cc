#include "dialect/n64/socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pctally::n64 {
namespace {

class N64Socket : public testing::Test {
 protected:
  void SetUp() override {
    char made[] = "/tmp/pctally-n64-socket-XXXXXX";
    ASSERT_NE(mkdtemp(made), nullptr);
    root_ = made;
    ASSERT_EQ(setenv("XDG_RUNTIME_DIR", made, 1), 0);
    ASSERT_EQ(mkdir((root_ + "/pctally").c_str(), 0700), 0);
  }
  void TearDown() override {
    unsetenv("XDG_RUNTIME_DIR");
    std::filesystem::remove_all(root_);
  }

  std::string root_;
  char path_[sizeof sockaddr_un::sun_path];
};

/// The names that were made in a watched directory, in order.
std::vector<std::string> names_made(int watch) {
  alignas(inotify_event) char bytes[4096];
  std::vector<std::string> names;
  ssize_t size = read(watch, bytes, sizeof bytes);
  for (ssize_t at = 0; at < size;) {
    const auto* event = reinterpret_cast<const inotify_event*>(bytes + at);
    names.emplace_back(event->name);
    at += static_cast<ssize_t>(sizeof *event + event->len);
  }
  return names;
}

TEST_F(N64Socket, HasTheNameThatOthersLookForOnceItListens) {
  UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ASSERT_GE(inotify_add_watch(watch.get(), (root_ + "/pctally").c_str(), IN_CREATE), 0);
  auto listens = listen_at("n64.5", path_);
  ASSERT_TRUE(listens) << listens.error().text;
  // bind(2) makes the first name, and nobody takes it for a program's; the second is of a socket that listens
  EXPECT_EQ(names_made(watch.get()), (std::vector<std::string>{"." + std::to_string(getpid()), "n64.5"}));
  EXPECT_TRUE(connect_to(path_));
  struct stat status;
  ASSERT_EQ(stat(path_, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_nlink, 1u);  // its first name is gone
}

TEST_F(N64Socket, ReplacesOneThatNobodyListensToAndNoOther) {
  auto first = listen_at("n64.5", path_);
  ASSERT_TRUE(first) << first.error().text;
  auto second = listen_at("n64.5", path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);
  first->reset();
  auto third = listen_at("n64.5", path_);
  ASSERT_TRUE(third) << third.error().text;
  EXPECT_TRUE(connect_to(path_));
}

}  // namespace
}  // namespace pctally::n64
