// Why a process was not observed, in words: the same for the recorder's line and the report's row.
#pragma once
#include "histfile/layout.h"

namespace pctally {

/// One line without a full stop; empty for kNone. Never null, whatever number a file holds.
inline const char* process_note_text(ProcessNote note) noexcept {
  switch (note) {
    case ProcessNote::kNone:
      return "";
    case ProcessNote::kStatic:
      return "statically linked: injection cannot reach it";
    case ProcessNote::kPrivileged:
      return "setuid, setgid or with file capabilities: the kernel keeps observers out";
    case ProcessNote::kForeignLibc:
      return "of another C library (musl): injection would keep it from starting";
    case ProcessNote::kWithoutLibc:
      return "needs no C library (a Go program): its threads and signals are its own; use -e ring";
    case ProcessNote::kWordSize:
      return "of another word size or machine: injection cannot reach it";
    case ProcessNote::kNotEntered:
      return "ran without the injected library (its own LD_PRELOAD or environment, another root, killed at "
             "once); use -e ring";
    case ProcessNote::kOtherUser:
      return "runs as another user; use: gosu USER pctally record -- CMD, or -e ring";
    case ProcessNote::kDebugged:
      return "runs under a debugger, which would stop at every tick; record it without, or use -e ring";
    case ProcessNote::kEmulated:
      return "runs in valgrind, whose signals and time are not the program's; record it without";
    case ProcessNote::kEnded:
      return "stands for processes of this name that have ended";
    case ProcessNote::kTogether:
      return "stands for all further processes";
    case ProcessNote::kSignalTaken:
      return "took the signal that ticks come with: not sampled from then on; use -e ring";
    case ProcessNote::kBlocked:
      return "has threads that block the signal of its ticks: those were not sampled; use -e ring";
    case ProcessNote::kFiltered:
      return "installed a seccomp filter: later threads and children, and code where a tick may kill, were "
             "not "
             "sampled";
    case ProcessNote::kBehindFilter:
      return "runs behind a seccomp filter, which may kill for a timer; use -e ring";
    case ProcessNote::kReadOnlyFile:
      return "runs where the profile file is read-only; put it with -o where it can be written";
    case ProcessNote::kUnseenFork:
      return "made by vfork, _Fork or a bare clone(2), where the engine does not see it; use -e ring";
    case ProcessNote::kTimerless:
      return "got no timer: its limit of pending signals is used up; raise ulimit -i, or use -e ring";
    case ProcessNote::kReplaced:
      return "took the signal or descriptor its ticks came with: for a moment it was not sampled";
  }
  return "unknown note";
}

}  // namespace pctally
