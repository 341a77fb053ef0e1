// Names, lines and bytes of code that a runtime compiled in memory, from the jit-PID.dump it writes
// (tools/perf's jitdump-specification.txt). Anybody can write such a file: it is read in pieces, each record
// is checked, and what is not understood is skipped by its length.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "object/elf/cover.h"
#include "object/jit_lines.h"
#include "object/symbolizer.h"

namespace pctally {

class JitDump {
 public:
  /// Error: ENOEXEC if it is no jitdump; one last written before the process started (0: not known) is of
  /// another and is refused.
  static Result<JitDump> read(const std::string& path, uint64_t started_unix_ns);
  /// The same of an open file. What is cut off at the end, or lies behind the first GiB, is left out.
  static Result<JitDump> parse(int fd, const std::string& path);

  /// One result per address (ascending). Where code overlaps, the youngest is taken: the runtime
  /// has used the memory again.
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses) const;

  /// One frame per address (ascending), of the code that names it; none where its runtime wrote no line.
  [[nodiscard]] std::vector<std::vector<Frame>> frames(std::span<const uint64_t> addresses) const;

  /// The bytes of the youngest code in [start, end), if it fills that range; none if the file does not have
  /// them.
  [[nodiscard]] CodeBytes code(uint64_t start, uint64_t end) const;

 private:
  struct Entry {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t timestamp = 0;
    uint32_t name = 0;  ///< in names_
    uint32_t name_bytes = 0;
    JitLines::Table lines{};
    uint64_t code = 0;  ///< offset of its bytes in the file; 0: they are not there
  };
  class Pieces;
  struct RecordHead;
  bool take_record(Pieces* file, uint64_t at, const RecordHead& head);
  bool take_load(Pieces* file, uint64_t at, const RecordHead& head);
  bool take_move(Pieces* file, uint64_t at, const RecordHead& head);
  bool take_lines(Pieces* file, uint64_t at, const RecordHead& head);
  [[nodiscard]] Cover resolved(std::span<const uint64_t> addresses) const;
  void add(uint64_t start, uint64_t bytes, Entry entry);

  std::string names_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, uint32_t> loaded_;            ///< the entry of a code index
  std::unordered_map<uint64_t, JitLines::Table> announced_;  ///< of code that follows, by its address
  JitLines lines_;
  UniqueFd file_;
  uint16_t machine_ = 0;  ///< e_machine
};

}  // namespace pctally
