// Profile files with call paths, put together in memory. For tests only.
#pragma once
#include "histread/file_builder_for_test.h"
#include "histread/reader.h"

namespace pctally {

/// A file with one object, one segment of it, and call paths.
class PathFile {
 public:
  PathFile() {
    FileHeader& header = builder.header();
    header.version = kPathsLayoutVersion;
    header.paths = pool_take(builder.pool(), sizeof(PathRecord) / kUnitBytes);
    for (PathTreeHead* tree : {&paths().context, &paths().plane}) {
      tree->slots_log2 = 4;
      tree->directory = pool_take(builder.pool(), 1);
      tree->most_nodes = 1000;
    }
    segment = builder.segment(builder.object("/bin/x", "id"), 0, 0x10000);
    scope = pool_take(builder.pool(), 1);
    builder.edit<ScopeRecord>(scope).name = builder.text("/bin/x");
    header.scopes = scope;
  }

  PathRecord& paths() { return builder.edit<PathRecord>(builder.header().paths); }
  uint32_t child(uint32_t parent, uint64_t place) {
    return path_child(builder.pool(), &paths().context, parent, place);
  }
  /// One more for the context tree. Returns its unit.
  uint32_t add_directory() {
    const uint32_t unit = pool_take(builder.pool(), 3);
    builder.edit<PathDirectory>(unit) = {unit + 1, 5, 0};
    return paths().context.more = unit;
  }
  uint32_t root() { return child(0, PathPlace::mark(PathPlace::kScope, scope)); }
  PathNode& node(uint32_t number) { return *path_node(builder.pool(), number); }
  /// Ticks counted at a position and in a node.
  void count(uint32_t number, uint64_t ticks) {
    builder.count(segment, 0x40, ticks);
    node(number).self += ticks;
  }
  FileContents read() { return read_file_contents(builder.bytes()).value(); }

  FileBuilder builder;
  uint32_t segment = 0, scope = 0;
};

}  // namespace pctally
