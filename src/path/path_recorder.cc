#include "path/path_recorder.h"

namespace pctally {

PathRecorder::PathRecorder(ProfileFile* file, bool unwind, FileReader* files) : counter_(file) {
  if (unwind) unwinder_.emplace(Unwinder::kMostTableBytes, files);
}

void PathRecorder::count(uint32_t scope, CodeSpace& code, const StackSample& stack, const TickPlace& place,
                         uint64_t ticks) {
  const uint64_t here = PathPlace::code(place.code.segment, place.code.index);
  frames_.clear();
  if (!unwinder_) {
    frames_.push_back({here, here});
    return counter_.count(scope, frames_, PathEnd::kComplete, ticks);
  }
  if (place.kernel) frames_.push_back({here, here});
  for (const CodeAddress& call : place.kernel_calls) {
    const uint64_t at = PathPlace::code(call.segment, call.index);
    frames_.push_back({at, at});  // no table here says where the kernel's functions begin
  }
  const PathEnd end = unwind(code, stack);
  if (frames_.empty()) frames_.push_back({here, here});
  counter_.count(scope, frames_, end, ticks);
}

/// Adds the frames of the stack.
PathEnd PathRecorder::unwind(CodeSpace& code, const StackSample& stack) {
  const size_t before = frames_.size();
  if (const std::vector<PathFrame>* known = memo_.find(code.version(), stack, before != 0);
      known != nullptr) {
    frames_.insert(frames_.end(), known->begin(), known->end());
    return PathEnd::kComplete;
  }
  const PathEnd end = unwinder_->unwind(code, stack, &frames_);
  if (end == PathEnd::kComplete) memo_.put(std::span(frames_).subspan(before));
  return end;
}

}  // namespace pctally
