// Notices, from outside, a process whose ticks have stopped although it runs: somebody has taken the signal.
#pragma once
#include <unordered_map>

#include "histfile/profile_file.h"
#include "recorder/engine/trusted_processes.h"

namespace pctally {

/// A process that blocks the signal, or is in the kernel, has no ticks either; that is not what is looked
/// for.
class Heartbeat {
 public:
  /// Looks at every living process of the file that is in the recorder's tree. One that got no tick while it
  /// used three periods of CPU time in user mode (and not less than 50 ms, which is how finely that is
  /// known), with the signal blocked in not all of its threads, gets the note kSignalTaken; one whose ticks
  /// go on again, or that another image has followed in the process, has its earlier note back.
  void poll(ProfileFile* file, const TrustedProcesses& trusted);

 private:
  struct Pulse {
    uint64_t ticks = 0;
    uint64_t cpu_ns = 0;                    ///< of the process, when they last changed
    uint64_t user_ns = 0;                   ///< when it was first found silent
    ProcessNote note = ProcessNote::kNone;  ///< before its signal was found taken
    bool suspected = false;
    bool noted = false;
    bool gone = false;
  };

  void update(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t period_ns);
  void suspect(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t silence_ns);

  std::unordered_map<uint32_t, Pulse> pulses_;  ///< by unit of the process record
};

}  // namespace pctally
