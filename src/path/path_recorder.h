// The call paths of one recording: unwinds each tick's stack and counts its path below its scope.
#pragma once
#include <optional>

#include "path/path_counter.h"
#include "path/path_memo.h"
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
  /// `unwind`: false counts the place of each tick alone. `files`: as Unwinder's. REQUIRES: `file` has call
  /// paths, and outlives this.
  explicit PathRecorder(ProfileFile* file, bool unwind = true, FileReader* files = nullptr);

  /// Says which file a segment belongs to. Other segments have no unwind tables. `held`: as Unwinder's.
  void add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& object, int held = -1) {
    if (unwinder_) unwinder_->add_segment(segment, start, object, held);
  }

  /// Counts ticks at `place` with their path.
  void count(uint32_t scope, CodeSpace& code, const StackSample& stack, const TickPlace& place,
             uint64_t ticks = 1);

  /// As Unwinder::frames_of(); null without one.
  const ObjectFrames* frames_of(uint32_t segment) {
    return unwinder_ ? unwinder_->frames_of(segment) : nullptr;
  }

 private:
  PathCounter counter_;
  PathEnd unwind(CodeSpace& code, const StackSample& stack);

  std::optional<Unwinder> unwinder_;
  PathMemo memo_;
  std::vector<PathFrame> frames_;  ///< of one tick; kept for its memory
};

}  // namespace pctally
