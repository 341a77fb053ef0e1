// What the tests of this folder share: the programs of testdata/, and what binutils say about them.
#pragma once
#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "object/elf/elf_file.h"
#include "object/symbolizer.h"

namespace pctally {

inline std::string fixture(const std::string& name) { return std::string(PCTALLY_FIXTURES) + "/" + name; }
inline bool exists(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

/// A directory that is gone when the test is over.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "object_test_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view text) {
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr) << path;
  fwrite(text.data(), 1, text.size(), file);
  fclose(file);
}

inline std::string read_file(const std::string& path) {
  std::string text;
  char buffer[4096];
  FILE* file = fopen(path.c_str(), "r");
  if (file == nullptr) return text;
  while (size_t count = fread(buffer, 1, sizeof buffer, file)) text.append(buffer, count);
  fclose(file);
  return text;
}

inline std::vector<std::string> output_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t length = 0; pipe != nullptr && (length = getline(&line, &room, pipe)) > 0;) {
    if (line[length - 1] == '\n') length--;
    lines.emplace_back(line, static_cast<size_t>(length));
  }
  free(line);
  if (pipe != nullptr) pclose(pipe);
  return lines;
}

/// A line of readelf -sW.
struct ListedSymbol {
  uint64_t value = 0;
  uint64_t size = 0;
  std::string type;
  std::string section;
  std::string name;  ///< without its version
};

inline std::vector<ListedSymbol> listed_symbols(const std::string& path) {
  std::vector<ListedSymbol> symbols;
  for (const std::string& line : output_of("readelf -sW '" + path + "'")) {
    unsigned long long value = 0;
    char size[32];
    char type[32];
    char section[32];
    char name[4096] = "";
    if (sscanf(line.c_str(), "%*d: %llx %31s %31s %*s %*s %31s %4095s", &value, size, type, section, name) <
        4)
      continue;
    const std::string whole = name;
    symbols.push_back({value, strtoull(size, nullptr, 0), type, section, whole.substr(0, whole.find('@'))});
  }
  return symbols;
}

inline ListedSymbol listed_symbol(const std::string& path, const std::string& name) {
  for (ListedSymbol& symbol : listed_symbols(path)) {
    if (symbol.name == name) return symbol;
  }
  ADD_FAILURE() << "no symbol " << name << " in " << path;
  return {};
}

inline std::unique_ptr<ElfFile> open_elf(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) {
    ADD_FAILURE() << file.error().text;
    return nullptr;
  }
  return std::make_unique<ElfFile>(std::move(*file));
}

/// The identity a recorder writes for a file.
inline ExecutableIdentity identity_of(const std::string& path) {
  ExecutableIdentity identity;
  identity.path = path;
  if (auto file = ElfFile::open(path))
    identity.build_id.assign(file->build_id().begin(), file->build_id().end());
  return identity;
}

/// The position of an ObjectAddress.
inline uint64_t position_of(const std::string& path, uint64_t address) {
  const auto file = open_elf(path);
  const auto offset = file ? file->offset(ObjectAddress{address}) : std::nullopt;
  EXPECT_TRUE(offset) << path << " does not load " << address;
  return offset ? offset->value : 0;
}

inline NamedRange name_at(const std::string& path, uint64_t address) {
  const uint64_t position = position_of(path, address);
  return Symbolizer::open(identity_of(path))->name({&position, 1}).at(0);
}

inline std::string label(const std::string& object, uint64_t address) {
  char text[64];
  snprintf(text, sizeof text, "+0x%llx]", static_cast<unsigned long long>(address));
  return "[" + object + text;
}

}  // namespace pctally
