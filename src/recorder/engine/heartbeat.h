// Notices, from outside, a process whose ticks have stopped although it runs: somebody has taken the signal.
#pragma once
#include <unordered_map>

#include "histfile/profile_file.h"
#include "recorder/engine/not_entered.h"
#include "recorder/engine/trusted_processes.h"

namespace pctally {

/// A process that blocks the signal, or that is in the kernel, is not suspected of having taken it.
class Heartbeat {
 public:
  /// Checks every living process of the file that is in the recorder's tree. A process is silent if it got no
  /// tick while it used three periods of CPU time, and at least 200 ms (the kernel's tick charges 4 to 10 ms
  /// at once). A silent process gets a note:
  ///   kSignalTaken  threads that do not block the signal used half of that time in user mode
  ///   kBlocked      threads that block it did
  ///   none          neither did: threads may end before their first tick
  /// The earlier note comes back when ticks go on after kSignalTaken, and when another image follows in the
  /// process. A process without the recording in its memory gets no note: it has executed another program,
  /// which is still starting. A program that ends by exit(3) checks itself and takes back a wrong note.
  void poll(ProfileFile* file, const TrustedProcesses& trusted, NotEntered* entered);

 private:
  struct Threads;
  struct FirstReading {
    uint64_t user_ns = 0;
    bool blocks = false;
  };
  struct Pulse {
    pid_t pid = 0;  ///< by the recorder's numbers, once it was found
    uint64_t ticks = 0;
    uint64_t cpu_ns = 0;                    ///< of the process, when they last changed
    uint64_t user_ns = 0;                   ///< when it was first found silent
    ProcessNote note = ProcessNote::kNone;  ///< before this one
    bool suspected = false;
    bool noted = false;
    bool gone = false;
    std::unordered_map<pid_t, FirstReading> threads;
  };

  void update(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t period_ns, const NotEntered& entered);
  static void find(const ProcessRecord& record, uint32_t unit, bool living, Pulse* pulse,
                   NotEntered* entered);
  static Threads sample_threads(pid_t pid, uint32_t signal, Pulse* pulse);
  static void note(ProcessRecord* record, Pulse* pulse, ProcessNote note);
  void suspect(ProcessRecord* record, pid_t pid, Pulse* pulse, uint64_t silence_ns,
               const NotEntered& entered);

  std::unordered_map<uint32_t, Pulse> pulses_;  ///< by unit of the process record
};

}  // namespace pctally
