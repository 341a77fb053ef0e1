// The call paths of one recording: unwinds each tick's stack and counts its path below its program.
#pragma once
#include "path/path_counter.h"
#include "path/program_scopes.h"
#include "path/unwinder.h"

namespace pctally {

/// Where the tick itself was counted.
struct TickPlace {
  CodeAddress code;
  bool kernel = false;
  std::span<const CodeAddress> kernel_calls{};  ///< calls in the kernel that led there, innermost first
};

class PathRecorder {
 public:
  /// REQUIRES: `file` has call paths, and outlives this.
  explicit PathRecorder(ProfileFile* file) : counter_(file), scopes_(file) {}

  /// Says which file a segment belongs to. What is not said has no unwind tables.
  void add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& object) {
    unwinder_.add_segment(segment, start, object);
  }

  /// As ProgramScopes::scope_of().
  uint32_t scope_of(const ObjectIdentity& program) { return scopes_.scope_of(program); }

  /// Counts one tick at `place` with its path.
  void count(uint32_t scope, CodeSpace& code, const StackSample& stack, const TickPlace& place);

 private:
  PathCounter counter_;
  ProgramScopes scopes_;
  Unwinder unwinder_;
  std::vector<PathFrame> frames_;  ///< of one tick; kept for its memory
};

}  // namespace pctally
