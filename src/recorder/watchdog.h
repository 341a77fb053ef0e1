// Ends a recorder that hangs: SIGTERM ends a recording even when a loop of it never returns.
//
// The recorder blocks the signals that end it and reads them between two turns of its work. Should a turn not
// end, nobody reads them; then this does, in a handler that a timer brings.
#pragma once
#include <stdint.h>
#include <sys/types.h>

namespace pctally {

class Watchdog {
 public:
  /// A hang is: no feed() has come for `patience_ms`, and one of SIGINT, SIGTERM, SIGHUP, SIGQUIT waits to be
  /// read for a second more, in which no feed() comes either. Then `child` (0: none) gets that signal, a line
  /// is printed, and this process ends with status 125. What has been counted is in the file, which stays
  /// unclosed. Once in a process. Without a timer there is no watchdog.
  static void start(pid_t child, unsigned patience_ms = 10000) noexcept;

  /// A turn of work has ended.
  static void feed() noexcept;
};

}  // namespace pctally
