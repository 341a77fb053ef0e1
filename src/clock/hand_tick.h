// A tick that the program delivers itself, in its own context (pctally_count()).
#pragma once
#include <signal.h>

namespace pctally {

/// From here to the end of the block no handler of the program's runs in the calling thread: one that ended
/// the process, or turned the profile off, would wait for the tick that it has interrupted, and one that left
/// by a long jump would have others wait. Our ticks come; SIGSEGV and SIGBUS are open where our guard is in
/// front, and one that was sent waits for the end. The mask is then as before. Behind a seccomp filter it
/// does nothing. Async-signal-safe. Not nested.
class HandTick {
 public:
  HandTick() noexcept;
  ~HandTick();
  HandTick(const HandTick&) = delete;
  HandTick& operator=(const HandTick&) = delete;

 private:
  sigset_t before_;  // as the kernel has it: sigset_t of the C library leaves out its own
  bool blocked_;
};

}  // namespace pctally
