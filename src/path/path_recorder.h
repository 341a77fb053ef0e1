// The call paths of one recording: unwinds each tick's stack and counts its path below its program.
#pragma once
#include "path/path_counter.h"
#include "path/unwinder.h"

namespace pctally {

/// Where the tick itself was counted.
struct TickPlace {
  CodeAddress code;
  bool kernel = false;
};

class PathRecorder {
 public:
  /// REQUIRES: `file` has call paths, and outlives this.
  explicit PathRecorder(ProfileFile* file) : file_(file), counter_(file) {}

  /// Says which file a segment belongs to. What is not said has no unwind tables.
  void add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& object) {
    unwinder_.add_segment(segment, start, object);
  }

  /// Unit of the program's scope; beyond kMostScopes that of all others. 0: no room.
  uint32_t scope_of(const ObjectIdentity& program);

  /// Counts one tick at `place` with its path.
  void count(uint32_t scope, CodeSpace& code, const StackSample& stack, const TickPlace& place);

 private:
  ProfileFile* file_;
  PathCounter counter_;
  Unwinder unwinder_;
  std::unordered_map<std::string, uint32_t> scopes_;
  uint32_t others_ = 0;
  std::vector<PathFrame> frames_;  ///< of one tick; kept for its memory
};

}  // namespace pctally
