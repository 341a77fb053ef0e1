#include "object/elf/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file/mapped_file.h"

namespace pctally {
namespace {

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    char name[] = "/tmp/pctally-test-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~RegularFileTest() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& name, size_t bytes) {
    std::ofstream(directory_ + "/" + name) << std::string(bytes, 'x');
    return directory_ + "/" + name;
  }
  std::string directory_;
  struct stat status_ {};
};

TEST_F(RegularFileTest, ACutFileReadsAsZeros) {
  const auto page = static_cast<size_t>(getpagesize());
  const std::string path = file("a", 3 * page);
  auto bytes = FileBytes::open(path), other = FileBytes::open(path);
  ASSERT_TRUE(bytes && other);
  ASSERT_EQ(bytes->span().size(), 3 * page);
  EXPECT_EQ(bytes->span()[2 * page], 'x');
  EXPECT_FALSE(bytes->shrank());
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(page)), 0);
  EXPECT_EQ(bytes->span()[2 * page], 0);
  EXPECT_EQ(bytes->span()[page], 0);
  EXPECT_EQ(bytes->span()[0], 'x');
  EXPECT_TRUE(bytes->shrank());
  FileBytes moved = std::move(*other);  // and the guard goes with it
  EXPECT_EQ(moved.span()[page], 0);
  EXPECT_TRUE(moved.shrank());
}

TEST_F(RegularFileTest, ABusErrorElsewhereStillEndsTheProcess) {
#ifdef PCTALLY_SANITIZED
  GTEST_SKIP() << "the sanitizer ends the process in its own way";
#endif
  const auto page = static_cast<size_t>(getpagesize());
  const std::string path = file("a", page);
  { auto bytes = FileBytes::open(path); }
  auto unguarded = MappedFile::open(path.c_str());
  ASSERT_TRUE(unguarded);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EXIT(_exit(unguarded->data()[0]), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(RegularFileTest, OthersFilesAreCopied) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  const std::string path = file("a", 10);
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  auto bytes = FileBytes::open(path);
  ASSERT_TRUE(bytes);
  std::ofstream(path) << std::string(10, 'y');
  EXPECT_EQ(bytes->span()[9], 'x');
}

TEST_F(RegularFileTest, OtherKindsAreNotOpened) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, directory_, std::string("/dev/null")}) {
    auto opened = open_regular(path, &status_);
    ASSERT_FALSE(opened);
    EXPECT_NE(std::string(opened.error().text).find("not a regular file"), std::string::npos);
  }
  // open(2) of the master makes a terminal: its number would be the next one's then.
  ASSERT_FALSE(open_regular("/dev/ptmx", &status_));
}

// Every object of a recording stays open, and there may be thousands.
TEST_F(RegularFileTest, KeepsNoDescriptor) {
  const std::string path = file("a", 10);
  rlimit before{}, few{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = {32, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<FileBytes> open;
  for (int i = 0; i < 100; ++i) {
    auto bytes = FileBytes::open(path);
    EXPECT_TRUE(bytes) << i;
    if (bytes) open.push_back(std::move(*bytes));
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(RegularFileTest, LinksOfARootDoNotLeadOutOfIt) {
  const std::string path = file("a", 10), link = directory_ + "/link";
  std::filesystem::create_symlink(path, link);
  const std::string root = "/proc/" + std::to_string(getpid()) + "/root";
  EXPECT_TRUE(open_regular(root + link, &status_));  // our own root: the same
  EXPECT_FALSE(open_regular(root + "/proc/self/exe", &status_)) << "a magic link leads anywhere";
  EXPECT_FALSE(open_regular(link, &status_, LastLink::kRefuse));
}

}  // namespace
}  // namespace pctally
