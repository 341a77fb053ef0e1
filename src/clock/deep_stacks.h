// A lower rate for deep stacks: to follow one of 1,023 frames takes 0.1 ms of the program's time, a tenth of
// a CPU at 1000 ticks a second. With every eighth sample it is a little more than 1 %.
#pragma once
#include "tick/own_path.h"

namespace pctally {

/// What is known of one thread's deep stacks. All zero: nothing. The thread's own signal handler uses it.
///
///  1. The stack pointer alone decides whether a sample is of a deep stack: its path is not known yet.
///  2. The ticks of samples that are left out are carried to the next sample of a deep stack.
///  3. All deep stacks of a thread have one rate. So each of them carries ticks of the others in the same
///     proportion, and no place gains ticks by what ran before it.
///  4. When a thread ends, the carried ticks of at most 14 samples are not counted.
class DeepStacks {
 public:
  /// What is known is of these paths, in this recording.
  struct Of {
    const OwnPaths* paths;
    uint32_t recording;
    bool operator==(const Of& other) const noexcept {
      return paths == other.paths && recording == other.recording;
    }
  };

  /// True if a sample with this stack pointer is left out. Else `ticks` grows by those of samples
  /// left out before. `lowest`: where the thread's own stack begins. What lies below it is another one, a
  /// coroutine's, and never left out.
  bool leaves_out(const Of& of, uint64_t lowest, uint64_t stack_pointer, uint64_t* ticks) noexcept {
    if (!(of_ == of) || stack_pointer < lowest || stack_pointer >= below_) return false;
    if (left_out_ != 0) {
      --left_out_;
      owed_ += *ticks;
      return true;
    }
    *ticks += owed_;
    owed_ = 0;
    return false;
  }

  /// The path of a sample that was not left out has `frames` frames, from `stack_pointer` to `end`, where the
  /// thread's own stack ends. If the deepest path has more than n * kFramesAtFullRate frames, the next 0 to
  /// 2n samples of deep stacks are left out, n on average.
  void note(const Of& of, uint64_t stack_pointer, uint64_t end, uint32_t frames) noexcept {
    if (frames <= kFramesAtFullRate) {
      if (stack_pointer < below_) below_ = 0;
      return;
    }
    if (!(of_ == of)) *this = DeepStacks(of, stack_pointer);
    // Frames differ in length: what is deep is surely so with half of the bytes and less. A border that moved
    // with each sample would carry ticks from one stack to another.
    const uint64_t bytes = end - stack_pointer, deep = bytes / frames * (frames - kFramesAtFullRate),
                   below = stack_pointer + (deep < bytes / 2 ? deep : bytes / 2);
    if (below > below_) below_ = below;
    // A depth that does not recur is forgotten in some hundred samples: too slowly to matter in any phase.
    deepest_ -= deepest_ >> kForgetLog2;
    if (frames << kForgetLog2 > deepest_) deepest_ = frames << kForgetLog2;
    const uint32_t n = ((deepest_ >> kForgetLog2) - 1) / kFramesAtFullRate;
    left_out_ = static_cast<uint32_t>(draw() % (2 * n + 1));
  }

  /// Ticks of samples left out that no sample has counted yet.
  [[nodiscard]] uint64_t owed(const Of& of) const noexcept { return of_ == of ? owed_ : 0; }

  constexpr DeepStacks() noexcept = default;

 private:
  DeepStacks(const Of& of, uint64_t seed) noexcept : of_(of), draws_(seed) {}

  /// So that no program is in step with the samples that are taken. Knuth's generator for MMIX.
  uint64_t draw() noexcept {
    draws_ = draws_ * 6364136223846793005u + 1442695040888963407u;
    return draws_ >> 33;
  }

  static constexpr unsigned kForgetLog2 = 7;

  Of of_ = {};
  uint32_t left_out_ = 0;  ///< of the next samples of deep stacks
  uint32_t deepest_ = 0;   ///< path, in 1/128 of a frame, at least 129 frames
  uint64_t below_ = 0;     ///< deep is what has its stack pointer below this
  uint64_t owed_ = 0;
  uint64_t draws_ = 0;
};

}  // namespace pctally
