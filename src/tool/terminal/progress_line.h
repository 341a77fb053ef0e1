// The line on a terminal that says what a command is doing, and how far it is, once that has taken a second.
// A thread of its own writes it: what takes the time need not ask what time it is.
//
//  1. No line and no thread where stderr is no terminal, where TERM is dumb or not set, and with -q.
//  2. The line is erased before anything else of ours is written, and at the end.
//  3. A command in the background writes none.
#pragma once
#include <pthread.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/time_ns.h"
#include "base/unique_fd.h"

namespace pctally {

/// At most one at a time in a process.
class ProgressLine {
 public:
  /// On stderr, if that is to have one. REQUIRES: the options are known (-q).
  ProgressLine();
  /// On a terminal; nothing is written before that time has passed.
  ProgressLine(int terminal, uint64_t delay_ns);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether there is one, which need not be on the terminal yet.
  [[nodiscard]] static bool exists();
  /// What the line says from now on. Does nothing if there is no line. An empty text erases it.
  static void show(const std::string& text);
  /// Writes the line at once and without a thread, under the rules above: for a loop that knows by itself
  /// when to say how far it is. It stays until the next one; an empty text ends it. REQUIRES: no ProgressLine
  /// lives.
  static void show_now(const std::string& text);
  /// Writes something else to the same terminal. The line is erased before, and comes back later.
  static void give_way(const std::function<void()>& write);

 private:
  void start(int terminal);
  void run() const;
  static void* run_thread(void* line);

  uint64_t delay_ns_;
  UniqueFd ended_;  ///< readable from the end on
  pthread_t thread_{};
};

/// "names: 12,000 of 200,000 addresses"; without "of 200,000" where there turn out to be more.
std::string progress_text(const std::string& what, uint64_t done, uint64_t all, const char* units);

}  // namespace pctally
