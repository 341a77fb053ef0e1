// Reads the bytes of a profile file that is not trusted: it may be damaged, forged, or changing
// under the reader.
//
// Refuses to trust: the header is copied once, every index is checked before it is followed, and every unit
// of the pool is visited at most once, so that neither a circle nor a shared leaf costs time or counts twice.
// What cannot be read is left out and named in `damage`.
#pragma once
#include <stdint.h>

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "histfile/layout.h"
#include "histread/path_tree.h"
#include "histread/weighted_position.h"

namespace pctally {

struct FileObject {
  ObjectKind kind = ObjectKind::kFile;
  std::string path;
  std::vector<uint8_t> build_id;
  int32_t owner = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t file_bytes = 0;  ///< as ObjectRecord
  uint64_t time_unix_ns = 0;
  std::vector<uint8_t> boot_id{};  ///< of a merged file: where its addresses hold; empty: the file's
};

struct FileProcess {
  uint32_t unit = 0;  ///< of its record
  int32_t pid = 0;
  int32_t parent = 0;
  ProcessNote note = ProcessNote::kNone;
  uint32_t flags = 0;
  uint64_t ticks = 0;
  uint64_t cpu_ns = 0;
  uint64_t blocked_ns = 0;
  uint64_t small_stack_ns = 0;
  uint64_t timerless_ns = 0;
  uint64_t unseen_start_ns = 0;
  uint64_t started_ns = 0;
  std::string comm;
  std::string engine;
};

/// A recording whose ticks are in a merged file.
struct FileRun {
  FileHeader header;
  std::vector<std::string> command;
  uint64_t measured_ticks = 0;
};

struct FileContents {
  FileHeader header;  ///< a copy; impossible counts in it are set to 0
  std::vector<std::string> command;
  std::vector<FileObject> objects;  ///< racing writers may have entered one object twice
  std::vector<FileSegment> segments;
  std::vector<WeightedPosition> cells;  ///< in file order; a position may occur more than once; ticks never 0
  std::vector<FileProcess> processes;
  CallPaths paths;
  std::vector<FileRun> runs;        ///< of a merged file
  std::vector<std::string> damage;  ///< what had to be left out, one sentence each
};

/// The header alone, if these bytes begin a profile file this version can read.
Result<FileHeader> read_file_header(std::span<const unsigned char> bytes);

/// Everything in the file. Any state is legal: a file that was never closed holds what was counted so far.
/// Time and memory are bounded by a constant times the number of bytes.
Result<FileContents> read_file_contents(std::span<const unsigned char> bytes);

}  // namespace pctally
