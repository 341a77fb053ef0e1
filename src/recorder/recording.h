// One recording from its first file byte to its last: the file, the engine, the target, and the account at
// the end.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recorder/attachment.h"
#include "recorder/child.h"
#include "recorder/cpu_account.h"
#include "recorder/engine.h"
#include "recorder/notices.h"

namespace pctally {

struct RecordOptions {
  std::vector<std::string> command;
  std::string program;           ///< the file that will be executed
  std::vector<pid_t> processes;  ///< instead of a command: these
  bool machine = false;          ///< instead of a command: everything
  std::string cgroup;            ///< instead of a command: this group's directory
  uint64_t for_ns = 0;           ///< how long; 0: to the end
  std::string engine;            ///< empty: the first of the ladder that works
  std::string path;              ///< empty: pctally.<what>.<pid>.pct
  Event event = kCpuTime;        ///< what a tick stands for
  uint64_t period = 1000000;     ///< ns of CPU time, or events, of one tick
  bool overwrite = false;
  bool randomise = true;
  bool children = true;
};

/// Where the ticks of one recording come from and go to. Linear: choose, open, run, finish.
class Recording {
 public:
  /// `notices` outlives the recording.
  Recording(RecordOptions options, Notices* notices) : options_(std::move(options)), notices_(notices) {}

  /// Settles on an engine. An Error if none works, or the one asked for does not.
  Result<void> choose_engine();

  /// Creates the file for the target and arms the engine; takes the next engine if one fails after all.
  Result<void> open(const Target& target);

  /// Lets the program go and counts until it ends, or for_ns is over. An Error if it could not be executed
  /// (nothing is left behind).
  Result<void> run(Child* child);

  /// Counts until the attachment ends, or for_ns is over.
  void watch(Attachment* attachment);

  /// Final drain, the CPU account, the file closed, one line said. `child`: null, or the command's. False if
  /// there is no whole file.
  bool finish(Child* child);

 private:
  void rule_out_unfit(Rung* rung) const;
  void choose_period();
  Result<void> start_engine(const Target& target);
  void say_engine() const;
  [[nodiscard]] bool replaces_later() const { return file_.replaces() && !options_.command.empty(); }
  [[nodiscard]] std::string give_other_name(const Error& error) const;
  void drain_until(const std::vector<int>& descriptors, const std::function<bool()>& ended);
  void look_at_account(uint64_t now);
  void show_drained(uint64_t now);
  void book_cpu_time(Child* child);
  void note_unobserved(const Child& child);
  [[nodiscard]] bool all_exited() const;
  [[nodiscard]] std::string what() const;
  [[nodiscard]] std::string target_text() const;
  void say_result() const;

  RecordOptions options_;
  Notices* notices_;
  std::vector<Rung> candidates_;  ///< engines still to be tried, best first
  std::string why_not_better_;    ///< why the better ones were passed over
  ProcessNote obstacle_ = ProcessNote::kNone;
  EngineSettings settings_;
  std::unique_ptr<Engine> engine_;
  CpuAccount account_;
  ProfileFile file_;
  std::string path_;
  Environment environment_;
  uint64_t account_at_ = 0;
  uint64_t progress_at_ = 0;
};

}  // namespace pctally
