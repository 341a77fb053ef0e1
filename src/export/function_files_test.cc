#include "export/function_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/kernel/cpu_time_for_test.h"
#include "export/formats.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kDeclared = 3;  ///< the line where a function is

Profile profile_of(const char* path) {
  Profile profile;
  profile.executables = {{ExecutableKind::kFile, path, {}, 0}};
  profile.period_ns = 1000;
  return profile;
}

/// A place whose innermost frame comes first, with ticks.
void add(Samples* samples, uint64_t address, std::vector<Frame> frames, uint64_t ticks = 1) {
  samples->objects = {"prog"};
  samples->samples.push_back({{static_cast<uint32_t>(samples->locations.size())}, ticks});
  samples->locations.push_back(
      {.executable = 0, .position = address, .address = address, .frames = std::move(frames)});
}

Frame frame(const char* function, const char* file, uint32_t line, uint32_t start_line = 0) {
  return {.function = function, .file = file, .line = line, .start_line = start_line};
}

/// A parser that bison has made: most lines are of the grammar.
Samples parser() {
  Samples samples;
  add(&samples, 0x10, {frame("parse", "gram.y", 12)}, 53);
  add(&samples, 0x14, {frame("parse", "gram.y", 13)}, 1);
  add(&samples, 0x20, {frame("parse", "parse.c", 4, kDeclared)}, 45);
  add(&samples, 0x30, {frame("parse", "", 0)}, 2);
  return samples;
}

TEST(FunctionFiles, AreThoseOfTheDeclarations) {
  const Samples samples = parser();
  const FunctionFiles files(samples);
  for (const Location& location : samples.locations)
    EXPECT_EQ(files.of(location, location.frames[0]), "parse.c");
}

TEST(FunctionFiles, AreThoseOfMostPlacesWhereNoneSaysMore) {
  Samples samples = parser();
  for (Location& location : samples.locations) location.frames[0].start_line = 0;
  EXPECT_EQ(FunctionFiles(samples).of(samples.locations[3], samples.locations[3].frames[0]), "gram.y");
}

TEST(FunctionFiles, OfAsManyPlacesAreTheFirstByName) {
  Samples samples;
  add(&samples, 0x10, {frame("f", "b.c", 1)});
  add(&samples, 0x20, {frame("f", "a.c", 1)});
  add(&samples, 0x30, {frame("f", "", 0)});
  EXPECT_EQ(FunctionFiles(samples).of(samples.locations[2], samples.locations[2].frames[0]), "a.c");
}

TEST(Callgrind, HasAFunctionOfSeveralFilesOnce) {
  const std::string text = callgrind_export(profile_of("/bin/prog"), parser());
  EXPECT_THAT(text, HasSubstr("\nob=/bin/prog\nfl=parse.c\nfn=parse\nfi=???\n0x30 0 2\n"
                              "fi=gram.y\n0x10 12 53\n0x14 13 1\nfe=parse.c\n0x20 4 45\n\ntotals: 101\n"));
}

/// Functions as "name file".
std::vector<std::string> functions_of(const nlohmann::json& thread) {
  std::vector<std::string> functions;
  const auto text = [&](const nlohmann::json& number) {
    return thread["stringArray"][number.get<size_t>()].get<std::string>();
  };
  const auto& table = thread["funcTable"];
  for (size_t i = 0; i < table["name"].size(); ++i)
    functions.push_back(text(table["name"][i]) + " " + text(table["fileName"][i]));
  return functions;
}

/// Two static functions of one name, inlined.
TEST(Firefox, TellsFunctionsApartByTheirFiles) {
  Samples samples;
  add(&samples, 0x10, {frame("hash", "a.c", 4, kDeclared), frame("one", "a.c", 9, 8)});
  add(&samples, 0x20, {frame("hash", "b.c", 4, kDeclared), frame("two", "b.c", 9, 8)});
  const auto json = nlohmann::json::parse(firefox_export(profile_of("/bin/prog"), samples));
  EXPECT_THAT(functions_of(json["threads"][0]),
              testing::UnorderedElementsAre("hash a.c", "hash b.c", "one a.c", "two b.c"));
}

/// Of 1,000 threads, each with a function of its own, and of so many functions that no thread has.
uint64_t cpu_ns_of_firefox(uint32_t others) {
  constexpr uint32_t kThreads = 1000;
  Samples samples;
  samples.with_callers = true;
  for (uint32_t i = 0; i < kThreads + others; ++i)
    add(&samples, i, {frame(("f" + std::to_string(i)).c_str(), "/src/f.c", 4, kDeclared)});
  samples.samples.resize(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    samples.samples[i].stack.push_back(static_cast<uint32_t>(samples.locations.size()));
    samples.locations.push_back({.frames = {frame(std::to_string(i).c_str(), "", 0)}, .is_scope = true});
  }
  const uint64_t before = process_cpu_ns();
  firefox_export(profile_of("/bin/prog"), samples);
  return process_cpu_ns() - before;
}

/// An import may have many programs and many functions: the product of both would be minutes and gigabytes.
TEST(Firefox, ThreadsCostWhatTheyHave) { EXPECT_LT(cpu_ns_of_firefox(4000), 3 * cpu_ns_of_firefox(0)); }

}  // namespace
}  // namespace pctally
