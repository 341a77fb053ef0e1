#include "path/path_recorder.h"

namespace pctally {

PathRecorder::PathRecorder(ProfileFile* file, bool unwind) : counter_(file) {
  if (unwind) unwinder_.emplace();
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
  PathEnd end = unwinder_->unwind(code, stack, &frames_);
  if (frames_.empty()) frames_.push_back({here, here});
  counter_.count(scope, frames_, end, ticks);
}

}  // namespace pctally
