#include "export/program_file.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

Profile profile_with_command(const std::string& command) {
  Profile profile;
  profile.command = {command};
  profile.executables = {{.kind = ExecutableKind::kKernel, .path = "[kernel]", .build_id = {}},
                         {.path = "/lib/libc.so.6", .build_id = {}},
                         {.path = "/lib/python3/math.so", .build_id = {}},
                         {.path = "/usr/bin/as", .build_id = {}},
                         {.path = "/usr/lib/cc1plus", .build_id = {}},
                         {.path = "/usr/bin/x86_64-linux-gnu-g++-12", .build_id = {}}};
  profile.positions = {{0, 1, 90}, {1, 1, 80}, {2, 1, 70}, {3, 1, 10}, {4, 1, 60}, {5, 1, 2}};
  return profile;
}

TEST(ProgramFile, IsTheFileThatTheCommandIsCalledLike) {
  EXPECT_EQ(program_file(profile_with_command("as")), 3u);
  EXPECT_EQ(program_file(profile_with_command("/usr/bin/as")), 3u);
  EXPECT_EQ(program_file(profile_with_command("./libc.so.6")), 1u);
}

/// Debian's g++, python3 and awk.
TEST(ProgramFile, MayHaveALongerNameThanItsLink) {
  EXPECT_EQ(program_file(profile_with_command("g++")), 5u);
  Profile profile = profile_with_command("/usr/bin/python3");
  profile.executables[3].path = "/usr/bin/python3.11";
  EXPECT_EQ(program_file(profile), 3u);
  profile.command = {"python"};
  EXPECT_EQ(program_file(profile), 3u);
  profile.command = {"awk"};
  profile.executables[3].path = "/usr/bin/mawk";
  EXPECT_EQ(program_file(profile), 3u);
}

/// Debian's cc is x86_64-linux-gnu-gcc-12, which runs cc1plus and as.
TEST(ProgramFile, WhoseNameIsAPartOfAWordIsNotCalledLikeTheCommand) {
  Profile profile = profile_with_command("cc");
  profile.executables[5].path = "/usr/bin/x86_64-linux-gnu-gcc-12";
  EXPECT_EQ(program_file(profile), 4u);
  profile.positions[3].ticks = 61;
  EXPECT_EQ(program_file(profile), 3u) << "it has most ticks";
  profile.command = {"gcc"};
  EXPECT_EQ(program_file(profile), 5u);
  profile.command = {"linux-gnu-g"};
  EXPECT_EQ(program_file(profile), 3u);
}

TEST(ProgramFile, OfAnotherNameIsTheProgramWithMostTicks) {
  EXPECT_EQ(program_file(profile_with_command("c89")), 4u);
  EXPECT_EQ(program_file(profile_with_command("@machine")), 4u);
  EXPECT_EQ(program_file(profile_with_command("")), 4u);
  Profile spread = profile_with_command("c89");
  spread.positions.insert(spread.positions.begin() + 3, {3, 0, 55});
  EXPECT_EQ(program_file(spread), 3u) << "in all of its places";
  Profile profile = profile_with_command("c89");
  profile.paths.scopes = {{.name = "/usr/bin/as", .build_id = {}}};
  EXPECT_EQ(program_file(profile), 3u) << "no scope is of the others";
}

TEST(ProgramFile, IsNoKernelAndNoLibrary) {
  Profile profile = profile_with_command("python3");
  profile.executables.resize(3);
  profile.positions.resize(3);
  EXPECT_EQ(program_file(profile), std::nullopt);
}

}  // namespace
}  // namespace pctally
