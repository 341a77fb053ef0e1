#include "histfile/call_paths.h"

#include <vector>

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

TEST(CallPathsFile, AFileWithoutThemIsOfVersion1AndHasNone) {
  FreshFile fresh;
  EXPECT_EQ(fresh.file().header().version, kLayoutVersion);
  EXPECT_EQ(call_paths(fresh.file()), nullptr);
}

/// The slots of each directory, as a power of two.
std::vector<uint32_t> directories_of(const Pool& pool, const PathTreeHead& tree) {
  std::vector<uint32_t> found;
  for (PathDirectory directory = first_directory(tree); directory.directory != 0;
       directory = next_directory(pool, directory))
    found.push_back(directory.slots_log2);
  return found;
}

TEST(CallPathsFile, TheDirectoryKeepsTheMeanChainOfAFullTreeAtFourNodes) {
  for (uint64_t bytes : {uint64_t{64}, uint64_t{3200}, uint64_t{1} << 20, uint64_t{8} << 20}) {
    for (const bool whole : {true, false}) {
      FreshFile fresh;
      const PathLimits limits{.context_bytes = bytes, .plane_bytes = bytes, .whole_directories = whole};
      ASSERT_TRUE(add_call_paths(&fresh.file(), limits));
      PathRecord* paths = call_paths(fresh.file());
      ASSERT_NE(paths, nullptr);
      EXPECT_EQ(fresh.file().header().version, kPathsLayoutVersion);
      EXPECT_EQ(paths->context.most_nodes, bytes / sizeof(PathNode));
      paths->context.nodes = paths->context.most_nodes;
      while (grow_path_tree(&fresh.file(), &paths->context) <= paths->context.nodes) continue;
      const std::vector<uint32_t> directories = directories_of(fresh.file().pool(), paths->context);
      EXPECT_LE(paths->context.most_nodes >> directories.back(), 4u);
      EXPECT_TRUE(!whole || directories.size() == 1);
    }
  }
}

TEST(CallPathsFile, ATreeBeginsWithOnePageAndGrowsOnceItHasANodePerSlot) {
  FreshFile fresh;
  ASSERT_TRUE(add_call_paths(&fresh.file(), {}));
  EXPECT_LE(fresh.file().header().pool.used * kUnitBytes, 12288u) << "a page for each tree, and their record";
  PathTreeHead& plane = call_paths(fresh.file())->plane;
  const auto grown = [&](uint32_t nodes) {
    plane.nodes = nodes;
    return grow_path_tree(&fresh.file(), &plane);
  };
  const auto directories = [&] { return directories_of(fresh.file().pool(), plane); };
  EXPECT_EQ(grown(1023), 1024u);
  EXPECT_EQ(directories(), (std::vector<uint32_t>{10}));
  EXPECT_EQ(grown(1024), 8192u);
  EXPECT_EQ(directories(), (std::vector<uint32_t>{10, 13}));
  EXPECT_EQ(grown(8191), 8192u);
  EXPECT_EQ(grown(8192), 65536u);
  EXPECT_EQ(grown(65536), 131072u);
  EXPECT_EQ(grown(524288), UINT32_MAX) << "four nodes per slot";
  EXPECT_EQ(directories(), (std::vector<uint32_t>{10, 13, 16, 17}));
}

TEST(CallPathsFile, ATreeOfAFullFileKeepsItsDirectory) {
  FreshFile fresh;
  ASSERT_TRUE(add_call_paths(&fresh.file(), {}));
  PathTreeHead& plane = call_paths(fresh.file())->plane;
  plane.nodes = 1024;
  while (pool_take(fresh.file().pool(), 64) != 0 || fresh.file().make_room(64)) continue;
  EXPECT_EQ(grow_path_tree(&fresh.file(), &plane), UINT32_MAX);
  EXPECT_EQ(directories_of(fresh.file().pool(), plane), (std::vector<uint32_t>{10}));
}

TEST(CallPathsFile, DirectoriesThatLeadBackOrNowhereEnd) {
  FreshFile fresh;
  ASSERT_TRUE(add_call_paths(&fresh.file(), {}));
  const Pool pool = fresh.file().pool();
  PathTreeHead& plane = call_paths(fresh.file())->plane;
  plane.nodes = 1024;
  ASSERT_EQ(grow_path_tree(&fresh.file(), &plane), 8192u);
  plane.nodes = 8192;
  for (const uint32_t more : {plane.more, uint32_t{1} << 30}) {  // as a program that writes there can set it
    pool_at<PathDirectory>(pool, plane.more)->more = more;
    EXPECT_EQ(grow_path_tree(&fresh.file(), &plane), UINT32_MAX);
    EXPECT_EQ(directories_of(pool, plane), (std::vector<uint32_t>{10, 13}));
    EXPECT_EQ(path_child(pool, &plane, 0, PathPlace::mark(PathPlace::kCut, 1)), 0u);
  }
}

TEST(CallPathsFile, WithoutRoomForThemTheErrorSaysSo) {
  FreshFile fresh;
  auto added = add_call_paths(
      &fresh.file(), {.context_bytes = uint64_t{1} << 34, .plane_bytes = 64, .whole_directories = true});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ENOSPC);
  EXPECT_EQ(fresh.file().header().version, kLayoutVersion);
}

TEST(CallPathsFile, AScopeHasTheNameAndTheBuildIdOfItsProgram) {
  FreshFile fresh;
  const uint8_t id[] = {1, 2, 3};
  ObjectIdentity program;
  program.path = "/usr/bin/prog";
  program.build_id = id;
  program.build_id_bytes = sizeof id;
  const uint32_t unit = add_program_scope(fresh.file(), program);
  ASSERT_NE(unit, 0u);
  EXPECT_EQ(fresh.file().header().scopes, unit);
  const auto* scope = pool_at<ScopeRecord>(fresh.file().pool(), unit);
  EXPECT_EQ(scope->build_id_bytes, 3u);
  const auto* name = pool_at<StringRecord>(fresh.file().pool(), scope->name);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(name + 1), name->bytes), "/usr/bin/prog");
}

}  // namespace
}  // namespace pctally
