// The source lines of code made at run time: what the records JIT_CODE_DEBUG_INFO of a jitdump say. Anybody
// can write them: a record that does not hold what it says has no lines.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pctally {

class JitLines {
 public:
  /// The lines of one piece of code: a part of all lines.
  struct Table {
    uint32_t first = 0;
    uint32_t count = 0;
  };
  struct Place {
    std::string_view file;  ///< empty if unknown; lives as long as the JitLines
    uint32_t line = 0;
  };

  /// Takes what follows the head of a record: `count` entries for the code at `address`. No lines if they are
  /// malformed, or if there are too many by now.
  Table add(std::string_view entries, uint64_t count, uint64_t address);

  /// The line at so many bytes from the start of the code. REQUIRES: add() has been called for all.
  [[nodiscard]] std::optional<Place> find(const Table& table, uint64_t offset) const;

 private:
  struct Line {
    uint32_t offset = 0;  ///< from the start of the code, as it is written
    uint32_t line = 0;
    uint32_t file = 0;
  };
  static bool read(std::string_view entries, size_t at, uint64_t address, Line* line);
  bool take_named(std::string_view entries, uint64_t count, uint64_t address);
  bool take_nameless(std::string_view entries, uint64_t count, uint64_t address);
  uint32_t file(std::string_view name);

  std::vector<Line> lines_;
  std::vector<std::string> files_ = {""};  ///< 0: unknown
  std::unordered_map<std::string, uint32_t> known_;
  size_t file_bytes_ = 0;
  uint32_t nearest_ = UINT32_MAX;  ///< the smallest offset of all
};

}  // namespace pctally
