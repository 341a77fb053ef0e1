// A tick that the program delivers itself, in its own context (pctally_count()).
#pragma once
#include <signal.h>

namespace pctally {

/// From here to the end of the block no handler of the program's runs in the calling thread. A handler that
/// ended the process, or turned the profile off, would wait for the tick that it has interrupted; one that
/// left by a long jump would make others wait. Our ticks still come. SIGSEGV and SIGBUS stay unblocked where
/// our guard is in front; one that is sent waits for the end of the block. At the end the mask is as before.
/// Behind a seccomp filter this does nothing. Async-signal-safe. Not nested.
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
