#include "base/file/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace pctally {
namespace {

namespace fs = std::filesystem;

bool is_ours(int fd) {
  char first = 0;
  return pread(fd, &first, 1, 0) == 1 && first == '!';
}

class NewFileTest : public testing::Test {
 protected:
  NewFileTest() : directory_(testing::TempDir() + "new_file_XXXXXX") {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = directory_ + "/name";
    plan_ = {path_.c_str(), true, is_ours, "one of ours"};
  }
  ~NewFileTest() override { fs::remove_all(directory_); }

  std::string part() {
    char name[PATH_MAX];
    EXPECT_TRUE(part_name(path_.c_str(), &name));
    return name;
  }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  void put(const std::string& text) { std::ofstream(path_) << text; }
  size_t entries() {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  std::string directory_, path_;
  NewFile::Plan plan_;
};

TEST_F(NewFileTest, TakesItsNameAtTheEnd) {
  put("!old");
  auto file = NewFile::create(plan_);
  ASSERT_TRUE(file) << file.error().text;
  ASSERT_EQ(write(file->fd(), "!new", 4), 4);
  EXPECT_EQ(content(path_), "!old");
  ASSERT_TRUE(file->place());
  EXPECT_EQ(content(path_), "!new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(NewFileTest, DiscardedItLeavesTheOldOne) {
  put("!old");
  auto file = NewFile::create(plan_);
  ASSERT_TRUE(file) << file.error().text;
  file->discard();
  EXPECT_EQ(content(path_), "!old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(NewFileTest, ReplacesOnlyItsKindAndEmptyFiles) {
  put("other");
  auto refused = NewFile::create(plan_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EEXIST);
  EXPECT_NE(strstr(refused.error().text, "is not one of ours"), nullptr) << refused.error().text;
  put("");
  EXPECT_TRUE(NewFile::create(plan_));
}

TEST_F(NewFileTest, WithoutLeaveReplacesNothing) {
  plan_.overwrite = false;
  put("!old");
  EXPECT_EQ(NewFile::create(plan_).error().code, EEXIST);
  fs::remove(path_);
  auto file = NewFile::create(plan_);
  ASSERT_TRUE(file) << file.error().text;
  put("!old");  // meanwhile
  EXPECT_EQ(file->place().error().code, EEXIST);
  EXPECT_EQ(content(path_), "!old");
  fs::remove(path_);
  EXPECT_TRUE(file->place()) << "it can be tried again";
}

TEST_F(NewFileTest, ThatCannotHaveItsNameTakesAFreeOneBesideIt) {
  for (const char* name : {"/a.pct", "/plain", "/.hidden", "/x.y/a"}) {
    path_ = directory_ + name;
    fs::create_directories(fs::path(path_).parent_path());
    plan_.path = path_.c_str();
    auto file = NewFile::create(plan_);
    ASSERT_TRUE(file) << file.error().text;
    const fs::path whole(path_);
    const std::string stem = whole.parent_path() / whole.stem();
    std::ofstream(stem + ".1" + whole.extension().string()) << "another";
    ASSERT_TRUE(file->place_beside());
    EXPECT_EQ(file->path(), stem + ".2" + whole.extension().string());
    EXPECT_TRUE(fs::exists(file->path()));
    EXPECT_FALSE(fs::exists(part()));
    file->discard();
    EXPECT_FALSE(fs::exists(stem + ".2" + whole.extension().string()));
  }
}

TEST_F(NewFileTest, ALeftOverIsRemoved) {
  std::ofstream(part()) << "of a maker that was killed";
  auto file = NewFile::create(plan_);
  ASSERT_TRUE(file) << file.error().text;
  ASSERT_TRUE(file->place());
  EXPECT_EQ(content(path_), "");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(NewFileTest, OfTwoMakersTheSecondIsRefused) {
  auto first = NewFile::create(plan_);
  ASSERT_TRUE(first);
  EXPECT_EQ(NewFile::create(plan_).error().code, EBUSY);
  EXPECT_TRUE(fs::exists(part()));
}

TEST_F(NewFileTest, WhatIsBeingWrittenIsNotReplaced) {
  auto first = NewFile::create(plan_);
  ASSERT_TRUE(first);
  ASSERT_EQ(write(first->fd(), "!", 1), 1);
  ASSERT_TRUE(first->place());
  EXPECT_EQ(NewFile::create(plan_).error().code, EBUSY);
  first->close();
  EXPECT_TRUE(NewFile::create(plan_));
}

TEST_F(NewFileTest, NoLinkIsFollowedNorDirectoryReplaced) {
  const std::string victim = directory_ + "/victim";
  std::ofstream(victim) << "!old";
  ASSERT_EQ(symlink(victim.c_str(), path_.c_str()), 0);
  EXPECT_FALSE(NewFile::create(plan_));
  fs::remove(path_);
  ASSERT_EQ(symlink(victim.c_str(), part().c_str()), 0);
  EXPECT_FALSE(NewFile::create(plan_));
  EXPECT_EQ(content(victim), "!old");
  fs::remove(part());
  fs::create_directory(path_);
  EXPECT_FALSE(NewFile::create(plan_));
}

TEST_F(NewFileTest, ModeIs0600WhateverTheUmask) {
  const mode_t old = umask(0777);
  auto file = NewFile::create(plan_);
  umask(old);
  ASSERT_TRUE(file) << file.error().text;
  struct stat status;
  ASSERT_EQ(fstat(file->fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

/// What a program prints would go into the file.
TEST_F(NewFileTest, TakesNoNumberOfAClosedStream) {
  const UniqueFd kept(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  close(STDIN_FILENO);
  auto file = NewFile::create(plan_);
  dup2(kept.get(), STDIN_FILENO);
  ASSERT_TRUE(file);
  EXPECT_GT(file->fd(), STDERR_FILENO);
}

/// As closefrom(3) does in a program that knows nothing of it; and the number is given to the next file.
TEST_F(NewFileTest, ANumberThatIsAnotherFilesNowIsLeftAlone) {
  const std::string other = directory_ + "/other";
  std::ofstream(other) << "precious";
  const auto open_other_as = [&other](int fd) {
    close(fd);
    const int opened = open(other.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(dup2(opened, fd), fd);
    if (opened != fd) close(opened);
    EXPECT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  };
  for (const bool closed_first : {true, false}) {
    auto file = std::make_unique<NewFile>(std::move(*NewFile::create(plan_)));
    EXPECT_TRUE(file->owns());
    const int fd = file->fd();
    open_other_as(fd);
    EXPECT_FALSE(file->owns());
    if (closed_first) file->close();
    file.reset();
    const UniqueFd again(open(other.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_NE(flock(again.get(), LOCK_EX | LOCK_NB), 0) << "the lock is the program's";
    EXPECT_EQ(close(fd), 0) << "and so is the descriptor";
  }
  auto file = NewFile::create(plan_);
  close(file->fd());
  EXPECT_FALSE(file->owns());
}

TEST_F(NewFileTest, ANameTooLongIsAnError) {
  path_ = directory_ + "/" + std::string(255, 'x');
  plan_.path = path_.c_str();
  EXPECT_EQ(NewFile::create(plan_).error().code, ENAMETOOLONG);
  path_ = std::string(PATH_MAX, '/');
  plan_.path = path_.c_str();
  EXPECT_EQ(NewFile::create(plan_).error().code, ENAMETOOLONG);
}

}  // namespace
}  // namespace pctally
