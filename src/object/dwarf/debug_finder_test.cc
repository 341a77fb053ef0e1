#include "object/dwarf/debug_finder.h"

#include <sys/stat.h>

#include "object/dwarf/debug_sections.h"
#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

namespace fs = std::filesystem;

class DebugFinderTest : public testing::Test {
 protected:
  std::string copy(const std::string& name, const std::string& to) {
    const std::string path = directory_ / to;
    fs::create_directories(fs::path(path).parent_path());
    fs::copy_file(fixture(name), path);
    return path;
  }
  std::unique_ptr<ElfFile> find(const std::string& path) {
    return DebugFinder(directory_ / "root").find(*open_elf(path));
  }
  TemporaryDirectory directory_;
};

TEST_F(DebugFinderTest, BesideTheObject) {
  const std::string object = copy("linked", "bin/linked");
  EXPECT_EQ(find(object), nullptr);
  const std::string debug = copy("linked.debug", "bin/linked.debug");
  ASSERT_NE(find(object), nullptr);
  EXPECT_EQ(find(object)->path(), debug);
  EXPECT_TRUE(has_line_information(*find(object)));
}

TEST_F(DebugFinderTest, InDotDebugByChecksum) {
  const std::string object = copy("anonymous_linked", "bin/anonymous_linked");
  copy(".debug/anonymous.debug", "bin/.debug/anonymous.debug");
  EXPECT_NE(find(object), nullptr);
}

TEST_F(DebugFinderTest, UnderTheRootByDirectory) {
  const std::string object = copy("linked", "bin/linked");
  const std::string real = fs::canonical(object).parent_path();
  copy("linked.debug", "root/" + real + "/linked.debug");
  EXPECT_NE(find(object), nullptr);
}

TEST_F(DebugFinderTest, UnderTheRootByBuildId) {
  const std::string object = copy("linked", "bin/linked");
  copy("linked.debug", "root/" + debug_file_name(open_elf(object)->build_id()));
  ASSERT_NE(find(object), nullptr);
  EXPECT_NE(DebugFinder(directory_ / "root").find(open_elf(object)->build_id()), nullptr);
}

TEST_F(DebugFinderTest, AnotherBuildIdIsNotTaken) {
  const std::string object = copy("linked", "bin/linked");
  copy("layout", "bin/linked.debug");
  copy("layout", "root/" + debug_file_name(open_elf(object)->build_id()));
  EXPECT_EQ(find(object), nullptr);
}

TEST_F(DebugFinderTest, AnotherChecksumIsNotTaken) {
  const std::string object = copy("anonymous_linked", "bin/anonymous_linked");
  const std::string debug = copy(".debug/anonymous.debug", "bin/anonymous.debug");
  std::string bytes = read_file(debug);
  bytes.back() ^= 1;
  write_file(debug, bytes);
  EXPECT_EQ(find(object), nullptr);
}

TEST_F(DebugFinderTest, AFifoInItsPlaceDoesNotBlock) {
  const std::string object = copy("linked", "bin/linked");
  ASSERT_EQ(mkfifo((directory_ / "bin/linked.debug").c_str(), 0600), 0);
  EXPECT_EQ(find(object), nullptr);
}

}  // namespace
}  // namespace pctally
