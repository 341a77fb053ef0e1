#include "base/file/read_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "base/file/write_all.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

UniqueFd file_of(const std::string& text) {
  std::string path = testing::TempDir() + "read_all_XXXXXX";
  UniqueFd fd(mkstemp(path.data()));
  unlink(path.c_str());
  EXPECT_TRUE(write_all(fd.get(), text.data(), text.size()));
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_SET), 0);
  return fd;
}

TEST(ReadToEnd, OfAFileOfAnySize) {
  for (const size_t bytes : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    std::string text(bytes, 'x'), got;
    if (bytes > 0) text.back() = 'y';
    EXPECT_TRUE(read_to_end(file_of(text).get(), bytes, &got)) << bytes;
    EXPECT_EQ(got, text);
  }
}

TEST(ReadToEnd, OfAFileWithoutASize) {
  const UniqueFd fd(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(size_of_file(fd.get()), 0u);
  std::vector<unsigned char> bytes;
  EXPECT_TRUE(read_to_end(fd.get(), 1 << 20, &bytes));
  ASSERT_FALSE(bytes.empty());
  EXPECT_EQ(bytes.back(), '\n');
}

TEST(ReadToEnd, OfAPipeThatComesInParts) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd from(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    const std::string part(50000, 'p');
    for (int i = 0; i < 4; ++i) (void)write_all(ends[1], part.data(), part.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  EXPECT_TRUE(read_to_end(from.get(), SIZE_MAX - 1, &text));
  EXPECT_EQ(text, std::string(200000, 'p'));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(ReadToEnd, AppendsAndCountsWhatIsThere) {
  std::string text = "a";
  EXPECT_TRUE(read_to_end(file_of("bc").get(), 3, &text));
  EXPECT_EQ(text, "abc");
  text = "ab";
  EXPECT_FALSE(read_to_end(file_of("cd").get(), 3, &text));
  EXPECT_EQ(errno, EFBIG);
}

TEST(ReadToEnd, StopsAtTheLimit) {
  std::string text;
  EXPECT_FALSE(read_to_end(file_of(std::string(100001, 'x')).get(), 100000, &text));
  EXPECT_EQ(errno, EFBIG);
  const UniqueFd endless(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  text.clear();
  EXPECT_FALSE(read_to_end(endless.get(), 100000, &text));
  EXPECT_EQ(errno, EFBIG);
  EXPECT_EQ(text.size(), 100001u);
}

TEST(ReadToEnd, SaysWhatIsWrong) {
  const UniqueFd directory(open("/", O_RDONLY | O_CLOEXEC));
  std::string text;
  EXPECT_FALSE(read_to_end(directory.get(), 1 << 20, &text));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace pctally
