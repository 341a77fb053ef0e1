// Names of text a runtime compiled in memory, from the /tmp/perf-PID.map it writes. Anybody can write such a
// file: every line is checked, and the whole is read only from root or ourselves.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_ns.h"
#include "object/elf/cover.h"
#include "object/symbolizer.h"

namespace pctally {

/// Clocks of files and processes agree to a kernel tick or two: this is more.
inline constexpr uint64_t kClocksAgreeNs = kNsPerSecond;

/// A file that was written before its process started is another process's. `started_unix_ns` 0: not known.
constexpr bool is_older_than_process(uint64_t changed_unix_ns, uint64_t started_unix_ns) {
  return started_unix_ns > kClocksAgreeNs && changed_unix_ns < started_unix_ns - kClocksAgreeNs;
}

/// What code made at run time is called where it has no name.
NamedRange unnamed_jit(AddressRange gap);

class PerfMap {
 public:
  /// A map that names nothing.
  PerfMap() = default;
  /// "perf-`pid`.map" in `directory`; while the process lives in a container, that in the container's root
  /// under the number it has there. One last written before the process started (0: not known) is of another
  /// and is refused.
  static Result<PerfMap> open(int32_t pid, const std::string& directory = "/tmp",
                              uint64_t started_unix_ns = 0);
  /// The map at that path, whoever wrote it.
  static Result<PerfMap> read(const std::string& path, uint64_t started_unix_ns);
  /// Takes the lines "START SIZE name" (hexadecimal); others are skipped.
  static PerfMap parse(std::string text);

  /// One result per address (ascending). Where entries overlap, the last is taken: the runtime
  /// has used the memory again.
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses) const;

 private:
  struct Entry {
    uint64_t start = 0;
    uint64_t end = 0;
    std::string_view name;
  };
  static bool parse_line(std::string_view line, Entry* entry);
  [[nodiscard]] NamedRange named(const Cover::Candidate& winner) const;
  [[nodiscard]] std::string_view line_at(uint64_t offset) const;

  std::string text_;
};

}  // namespace pctally
