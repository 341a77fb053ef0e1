#include "object/kernel/kernel_symbol_cache.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "object/fixtures_for_test.h"
#include "object/kernel/kernel_symbol_parser.h"

namespace pctally {
namespace {

const std::vector<uint8_t> kBoot(16, 0xab);
const std::vector<uint8_t> kOtherBoot(16, 0xcd);
constexpr char kName[] = "kernel-abababababababababababababababab";
constexpr uint64_t kAddress = 0xffffffff81000180;

/// A cache of our own with one file in it.
class KernelSymbolCacheTest : public testing::Test {
 protected:
  void SetUp() override { keep(kBoot); }
  void keep(const std::vector<uint8_t>& boot) const {
    KernelSymbolParser parser;
    parser.feed("ffffffff81000000 T _text\nffffffff81000100 T do_work\nffffffff81000200 D data\n");
    parser.feed("ffffffff81000300 T more\nffffffffc0001000 t probe\t[module]\n");
    parser.finish();
    cache_.keep(boot, 7, parser.table());
  }
  [[nodiscard]] std::string file() const { return cache_.path() + "/" + kName; }
  [[nodiscard]] std::string found() const {
    const auto cached = cache_.find(kBoot);
    return cached ? cached->table.range_at(kAddress).function : "";
  }

  TemporaryDirectory directory_;
  KernelSymbolCache cache_{directory_ / "", {"cache", "pctally"}};
};

/// Leaves the file's size and mode as they are, and is quick.
void overwrite(const std::string& path, const std::string& bytes) {
  FILE* file = fopen(path.c_str(), "r+");
  ASSERT_NE(file, nullptr);
  fwrite(bytes.data(), 1, bytes.size(), file);
  fclose(file);
}

mode_t mode_of(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST_F(KernelSymbolCacheTest, FindsWhatWasKept) {
  const auto cached = cache_.find(kBoot);
  ASSERT_TRUE(cached);
  EXPECT_EQ(cached->module_state, 7u);
  const NamedRange range = cached->table.range_at(kAddress);
  EXPECT_EQ(range.function, "do_work");
  EXPECT_EQ(range.start, 0xffffffff81000100);
  EXPECT_EQ(range.end, 0xffffffff81000200);
  EXPECT_TRUE(cached->table.in_core(kAddress));
  EXPECT_TRUE(cached->table.in_module(0xffffffffc0001010));
  EXPECT_FALSE(cache_.find(kOtherBoot));
}

TEST_F(KernelSymbolCacheTest, IsForOurEyesOnly) {
  EXPECT_EQ(mode_of(file()), 0600u);
  EXPECT_EQ(mode_of(cache_.path()), 0700u);
  EXPECT_EQ(mode_of(directory_ / "cache"), 0700u);
}

TEST_F(KernelSymbolCacheTest, ForgetsOtherBootsAndNothingElse) {
  write_file(cache_.path() + "/other", "");
  keep(kOtherBoot);
  EXPECT_FALSE(exists(file()));
  EXPECT_TRUE(cache_.find(kOtherBoot));
  EXPECT_TRUE(exists(cache_.path() + "/other"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache_.path())) files += !entry.path().empty();
  EXPECT_EQ(files, 2u) << "no temporary file stays";
}

TEST_F(KernelSymbolCacheTest, AnyTruncationIsRefused) {
  const std::string whole = read_file(file());
  for (size_t size = 0; size < whole.size(); size++) {
    ASSERT_EQ(truncate(file().c_str(), static_cast<off_t>(size)), 0);
    ASSERT_EQ(found(), "") << size;
    write_file(file(), whole);
  }
  EXPECT_EQ(found(), "do_work");
}

TEST_F(KernelSymbolCacheTest, GarbageIsRefused) {
  const std::string whole = read_file(file());
  write_file(file(), std::string(whole.size(), 'x'));
  EXPECT_EQ(found(), "");
  write_file(file(), whole + "x");
  EXPECT_EQ(found(), "");
}

TEST_F(KernelSymbolCacheTest, ARenamedFileOfAnotherBootIsRefused) {
  keep(kOtherBoot);
  for (const auto& entry : std::filesystem::directory_iterator(cache_.path())) {
    std::filesystem::rename(entry.path(), file());
  }
  ASSERT_TRUE(exists(file()));
  EXPECT_EQ(found(), "");
}

TEST_F(KernelSymbolCacheTest, WhatOthersMayHaveWrittenIsRefused) {
  ASSERT_EQ(found(), "do_work");
  chmod(file().c_str(), 0620);
  EXPECT_EQ(found(), "") << "group may write";
  chmod(file().c_str(), 0600);
  std::filesystem::create_hard_link(file(), directory_ / "link");
  EXPECT_EQ(found(), "") << "another name";
  std::filesystem::remove(directory_ / "link");
  chmod(cache_.path().c_str(), 0770);
  EXPECT_EQ(found(), "") << "group may write into the directory";
  chmod(cache_.path().c_str(), 0700);
  EXPECT_EQ(found(), "do_work");
}

TEST_F(KernelSymbolCacheTest, LinksAndFifosAreRefused) {
  std::filesystem::rename(file(), directory_ / "elsewhere");
  std::filesystem::create_symlink(directory_ / "elsewhere", file());
  EXPECT_EQ(found(), "");
  std::filesystem::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_EQ(found(), "");
}

TEST_F(KernelSymbolCacheTest, ALinkedDirectoryIsRefused) {
  std::filesystem::rename(cache_.path(), directory_ / "elsewhere");
  std::filesystem::create_directory_symlink(directory_ / "elsewhere", cache_.path());
  EXPECT_EQ(found(), "");
  keep(kOtherBoot);
  EXPECT_TRUE(exists(directory_ / "elsewhere/" + kName)) << "removed behind a link";
}

TEST_F(KernelSymbolCacheTest, APlantedLinkIsReplacedAndNotFollowed) {
  write_file(directory_ / "victim", "precious");
  std::filesystem::remove(file());
  std::filesystem::create_symlink(directory_ / "victim", file());
  const std::string temporary = cache_.path() + "/." + kName + ".part";
  std::filesystem::create_symlink(directory_ / "victim", temporary);
  keep(kBoot);
  EXPECT_EQ(read_file(directory_ / "victim"), "precious");
  std::filesystem::remove(temporary);
  keep(kBoot);
  EXPECT_EQ(read_file(directory_ / "victim"), "precious");
  EXPECT_EQ(found(), "do_work");
}

TEST_F(KernelSymbolCacheTest, ForeignOwnersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  for (const std::string& path : {file(), cache_.path(), directory_ / "cache", directory_ / ""}) {
    ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
    EXPECT_EQ(found(), "") << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
    EXPECT_EQ(found(), "do_work") << path;
  }
}

TEST_F(KernelSymbolCacheTest, NothingIsMadeInAHomeOfAnother) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  std::filesystem::remove_all(directory_ / "cache");
  ASSERT_EQ(chown((directory_ / "").c_str(), 65534, 0), 0);
  keep(kBoot);
  EXPECT_FALSE(exists(directory_ / "cache"));
}

TEST_F(KernelSymbolCacheTest, MutantsGiveRangesAroundTheAddress) {
  const std::string original = read_file(file());
  ASSERT_GT(original.size(), 100u);
  std::mt19937 random(2024);
  int read = 0;
  for (int mutant = 0; mutant < 2000; mutant++) {
    std::string bytes = original;
    for (unsigned flips = 1 + random() % 4; flips > 0; flips--) {
      bytes[32 + random() % (bytes.size() - 32)] = static_cast<char>(random());
    }
    if (mutant % 8 == 0) bytes[random() % 32] ^= 1;
    overwrite(file(), bytes);
    const auto cached = cache_.find(kBoot);
    if (!cached) continue;
    read++;
    for (uint64_t address : {uint64_t{0}, kAddress, uint64_t{0xffffffffc0001010}, UINT64_MAX - 1}) {
      const NamedRange range = cached->table.range_at(address);
      ASSERT_LE(range.start, address) << mutant;
      ASSERT_GT(range.end, address) << mutant;
      ASSERT_FALSE(range.function.empty()) << mutant;
      static_cast<void>(cached->table.in_module(address));
    }
  }
  EXPECT_GT(read, 200) << "mutants have to get as far as the table";
}

TEST(KernelSymbolCache, WithoutAPlaceNothingHappens) {
  const KernelSymbolParser parser;
  const KernelSymbolCache none;
  none.keep(kBoot, 0, parser.table());
  EXPECT_FALSE(none.find(kBoot));
  const KernelSymbolCache missing("/nonexistent", {"a", "b"});
  missing.keep(kBoot, 0, parser.table());
  EXPECT_FALSE(missing.find(kBoot));
}

/// The variables the place depends on, put back afterwards.
class Variables {
 public:
  Variables() {
    for (const char* name : kNames) saved_[name] = getenv(name) == nullptr ? "" : getenv(name);
    for (const char* name : kNames) unsetenv(name);
  }
  ~Variables() {
    for (const auto& [name, value] : saved_) {
      value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static constexpr const char* kNames[] = {"HOME", "XDG_CACHE_HOME", "PCTALLY_NO_CACHE"};
  std::map<std::string, std::string> saved_;
};

TEST(KernelSymbolCache, LiesWhereTheEnvironmentSays) {
  const Variables restored;
  EXPECT_FALSE(KernelSymbolCache::of_environment().exists()) << "no HOME";
  setenv("HOME", "relative", 1);
  EXPECT_FALSE(KernelSymbolCache::of_environment().exists());
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(KernelSymbolCache::of_environment().path(), "/home/me/.cache/pctally");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(KernelSymbolCache::of_environment().path(), "/home/me/.cache/pctally");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(KernelSymbolCache::of_environment().path(), "/cache/pctally");
  setenv("PCTALLY_NO_CACHE", "0", 1);
  EXPECT_EQ(KernelSymbolCache::of_environment().path(), "/cache/pctally");
  setenv("PCTALLY_NO_CACHE", "1", 1);
  EXPECT_FALSE(KernelSymbolCache::of_environment().exists());
}

/// Run by the next test in a program with a group of its own.
TEST(KernelSymbolCache, DISABLED_SaysWhetherItExists) {
  const bool exists = KernelSymbolCache::of_environment().exists();
  printf("secure=%lu exists=%d\n", getauxval(AT_SECURE), exists);
}

TEST(KernelSymbolCache, IsNotForProgramsWithMoreRightsThanTheirCaller) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a program another group";
  const TemporaryDirectory directory;
  const std::string program = directory / "program";
  std::filesystem::copy("/proc/self/exe", program);
  const std::string command =
      "HOME=/home/me " + program +
      " --gtest_also_run_disabled_tests --gtest_filter=*SaysWhetherItExists | grep secure=";
  EXPECT_EQ(output_of(command), std::vector<std::string>{"secure=0 exists=1"});
  ASSERT_EQ(chown(program.c_str(), 0, 65534), 0);
  ASSERT_EQ(chmod(program.c_str(), 02755), 0);
  const auto said = output_of(command);
  if (said == std::vector<std::string>{"secure=0 exists=1"}) GTEST_SKIP() << "the file system is nosuid";
  EXPECT_EQ(said, std::vector<std::string>{"secure=1 exists=0"});
}

}  // namespace
}  // namespace pctally
