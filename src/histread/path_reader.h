// Reads the call paths of a profile file that is not trusted.
//
// Every node is visited once, every number is checked before it is followed, and a node that does not hang on
// a root is left out. Time and memory are bounded by a constant times the bytes of the file.
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/file/byte_reader.h"
#include "histfile/layout.h"
#include "histread/path_tree.h"
#include "histread/weighted_position.h"

namespace pctally {

/// What the reader of the rest of the file knows.
struct PathSource {
  ByteReader bytes{{}};
  uint32_t units = 0;                                         ///< first unit that must not be read
  std::function<bool(uint32_t first, uint64_t units)> claim;  ///< marks units as visited; false: not fresh
  std::function<std::string(uint32_t unit)> text;             ///< of a StringRecord
  std::unordered_map<uint32_t, FileSegment> segments;         ///< by unit
};

/// How much of them had to be left out.
struct PathDamage {
  uint64_t counts = 0;  ///< impossibly large
  uint64_t nodes = 0;   ///< that hang on no root, or cannot be read
};

/// A node whose counts are also its parent's, because its recorder was killed while it pruned, is counted
/// once.
CallPaths read_paths(PathSource source, const FileHeader& header, PathDamage* damage);

/// Ticks of all nodes.
uint64_t sum_of_paths(const CallPaths& paths);

}  // namespace pctally
