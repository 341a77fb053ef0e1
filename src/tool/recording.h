// One recording from its first file byte to its last: the file, the engine, the program, and the account at
// the end.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tool/child.h"

namespace pctally {

struct RecordOptions {
  std::vector<std::string> command;
  std::string program;  ///< the file that will be executed
  std::string engine;   ///< empty: the first of the ladder that works
  std::string path;     ///< empty: pctally.<comm>.<pid>.pct
  uint64_t period_ns = 1000000;
  bool overwrite = false;
  bool randomise = true;
  bool children = true;
};

/// Where the ticks of one recording come from and go to. Linear: choose, open, run, finish.
class Recording {
 public:
  explicit Recording(RecordOptions options) : options_(std::move(options)) {}

  /// Settles on an engine, and says so. An Error if none works, or the one asked for does not.
  Result<void> choose_engine();

  /// Creates the file for the held program and arms the engine; takes the next engine if one fails after all.
  Result<void> open(Child* child);

  /// Lets the program go and counts until it ends. An Error if it could not be executed (nothing is left
  /// behind).
  Result<void> run(Child* child);

  /// Final drain, the CPU account, the file closed, one line said.
  void finish(const Child& child);

 private:
  Result<void> start_engine(pid_t target);
  void wait_and_drain(Child* child);
  void book_cpu_time(const rusage& usage);
  void note_unobserved(const Child& child);
  [[nodiscard]] bool all_exited() const;
  void say_result() const;

  RecordOptions options_;
  std::vector<std::string> candidates_;  ///< engines still to be tried, best first
  std::string why_not_better_;           ///< why the better ones were passed over
  ProcessNote obstacle_ = ProcessNote::kNone;
  EngineSettings settings_;
  std::unique_ptr<Engine> engine_;
  ProfileFile file_;
  std::string path_;
  Environment environment_;
};

}  // namespace pctally
