#include "histfile/call_paths.h"

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

TEST(CallPathsFile, AFileWithoutThemIsOfVersion1AndHasNone) {
  FreshFile fresh;
  EXPECT_EQ(fresh.file().header().version, kLayoutVersion);
  EXPECT_EQ(call_paths(fresh.file()), nullptr);
}

TEST(CallPathsFile, TheDirectoryKeepsTheMeanChainOfAFullTreeAtFourNodes) {
  for (uint64_t bytes : {uint64_t{64}, uint64_t{3200}, uint64_t{1} << 20, uint64_t{8} << 20}) {
    FreshFile fresh;
    ASSERT_TRUE(add_call_paths(&fresh.file(), {.context_bytes = bytes, .plane_bytes = bytes}));
    const PathRecord* paths = call_paths(fresh.file());
    ASSERT_NE(paths, nullptr);
    EXPECT_EQ(fresh.file().header().version, kPathsLayoutVersion);
    EXPECT_EQ(paths->context.most_nodes, bytes / sizeof(PathNode));
    EXPECT_LE(paths->context.most_nodes >> paths->context.slots_log2, 4u);
  }
}

TEST(CallPathsFile, WithoutRoomForThemTheErrorSaysSo) {
  FreshFile fresh;
  auto added = add_call_paths(&fresh.file(), {.context_bytes = uint64_t{1} << 34, .plane_bytes = 64});
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
