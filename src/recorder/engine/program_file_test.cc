#include "recorder/engine/program_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pctally {
namespace {

constexpr unsigned char kOurs = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32,
                        kOthers = sizeof(void*) == 8 ? ELFCLASS32 : ELFCLASS64;

class ProgramFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "program_file_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string write(const char* name, const std::string& text, mode_t mode = 0755) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  std::string directory_;
};

TEST_F(ProgramFile, AnOrdinaryProgramIsReachable) {
  EXPECT_EQ(injection_obstacle("/proc/self/exe"), ProcessNote::kNone);
  EXPECT_EQ(injection_obstacle("/bin/sh"), ProcessNote::kNone);
}

/// The header of a program without program headers: one that is linked statically.
std::string elf_header(unsigned char word_size) {
  ElfW(Ehdr) header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = word_size;
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

TEST_F(ProgramFile, AScriptIsWhatItsInterpreterIs) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(injection_obstacle(write("s", "#!" + self + "\n")), ProcessNote::kNone);
  std::string program = write("static", elf_header(kOurs));
  EXPECT_EQ(injection_obstacle(program), ProcessNote::kStatic);
  EXPECT_EQ(injection_obstacle(write("s2", "#! " + program + " -x\n")), ProcessNote::kStatic);
  EXPECT_EQ(injection_obstacle(write("s3", "#!/usr/bin/env " + program + "\n")), ProcessNote::kStatic);
}

TEST_F(ProgramFile, TheDynamicLinkerRunsWhatItIsGiven) {
  EXPECT_EQ(injection_obstacle(write("ld-linux-x86-64.so.2", elf_header(kOurs))), ProcessNote::kNone);
  EXPECT_EQ(injection_obstacle(write("ldd", elf_header(kOurs))), ProcessNote::kStatic);
}

TEST_F(ProgramFile, AnotherWordSizeIsNamed) {
  EXPECT_EQ(injection_obstacle(write("other", elf_header(kOthers))), ProcessNote::kWordSize);
}

TEST_F(ProgramFile, AScriptThatNamesItselfEnds) {
  std::string path = directory_ + "/loop";
  EXPECT_EQ(injection_obstacle(write("loop", "#!" + path + "\n")), ProcessNote::kNone);
}

/// A program with nothing but the path of a loader.
std::string elf_with_loader(const std::string& loader) {
  ElfW(Ehdr) header{};
  ElfW(Phdr) segment{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = kOurs;
  header.e_phoff = sizeof header;
  header.e_phnum = 1;
  segment.p_type = PT_INTERP;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = loader.size() + 1;
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return text.append(loader).append(1, '\0');
}

/// The same, with a dynamic section.
std::string elf_with_loader_and(std::vector<ElfW(Dyn)> entries) {
  const std::string loader = "/lib/ld.so";
  ElfW(Ehdr) header{};
  ElfW(Phdr) segments[2] = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = kOurs;
  header.e_phoff = sizeof header;
  header.e_phnum = 2;
  const size_t bytes = entries.size() * sizeof entries[0];
  segments[0].p_type = PT_DYNAMIC;
  segments[0].p_offset = sizeof header + sizeof segments;
  segments[0].p_filesz = bytes;
  segments[1].p_type = PT_INTERP;
  segments[1].p_offset = segments[0].p_offset + bytes;
  segments[1].p_filesz = loader.size() + 1;
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text.append(reinterpret_cast<const char*>(segments), sizeof segments);
  text.append(reinterpret_cast<const char*>(entries.data()), bytes);
  return text.append(loader).append(1, '\0');
}

TEST_F(ProgramFile, WhatNeedsNoLibraryIsNamed) {
  ElfW(Dyn) needed{}, other{}, end{};
  needed.d_tag = DT_NEEDED;
  other.d_tag = DT_HASH;
  const auto note = [&](const char* name, std::vector<ElfW(Dyn)> entries) {
    return injection_obstacle(write(name, elf_with_loader_and(std::move(entries))));
  };
  EXPECT_EQ(note("go", {other, end, needed}), ProcessNote::kWithoutLibc);
  EXPECT_EQ(note("c", {other, needed, end}), ProcessNote::kNone);
  EXPECT_EQ(note("endless", {other, other}), ProcessNote::kNone) << "not known";
}

TEST_F(ProgramFile, WhatTheKernelDoesNotFindIsNamed) {
  EXPECT_EQ(missing_interpreter("/bin/sh"), "");
  EXPECT_EQ(missing_interpreter(directory_ + "/none"), "");
  EXPECT_EQ(missing_interpreter(write("static", elf_header(kOurs))), "");
  EXPECT_EQ(missing_interpreter(write("elf", elf_with_loader("/lib/no-such-ld.so"))), "/lib/no-such-ld.so");
  const std::string script = write("script", "#! /no/python -u\ntext");
  EXPECT_EQ(missing_interpreter(script), "/no/python");
  EXPECT_EQ(missing_interpreter(write("outer", "#!" + script + "\n")), "/no/python");
  EXPECT_EQ(missing_interpreter(write("dos", "#!/bin/sh\r\n")), "/bin/sh\r");
  EXPECT_EQ(missing_interpreter(write("loop", "#!" + directory_ + "/loop\n")), "");
  EXPECT_EQ(missing_interpreter(write("text", "text")), "");
}

TEST_F(ProgramFile, FindsWhatExecvpWouldRun) {
  std::string old = getenv("PATH");
  write("here", "#!/bin/sh\n");
  write("plain", "text", 0644);
  setenv("PATH", ("/nonexistent:" + directory_ + ":/bin").c_str(), 1);
  EXPECT_EQ(find_program("here"), directory_ + "/here");
  std::string refused;
  EXPECT_EQ(find_program("plain", &refused), "");
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(refused, directory_ + "/plain");
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(find_program(""), "");
  EXPECT_EQ(find_program(directory_ + "/none"), "");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(find_program(directory_ + "/plain"), "");
  EXPECT_EQ(errno, EACCES);
  setenv("PATH", old.c_str(), 1);
}

}  // namespace
}  // namespace pctally
