// One recording from its first file byte to its last: the file, the engine, the target, and the account
// at the end.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "recorder/attachment.h"
#include "recorder/child.h"
#include "recorder/cpu_account.h"
#include "recorder/engine/engine.h"
#include "recorder/notices.h"
#include "recorder/record_options.h"

namespace pctally {

/// A finished profile: its name for people, and a path by which this process opens it also where the engine
/// has given up the rights that its directory asks for (a user's home, and sudo).
struct RecordedFile {
  std::string name;
  std::string path;
};

/// Where the ticks of one recording come from and go to. Linear: choose, open, run, finish.
class Recording {
 public:
  /// `notices` outlives the recording.
  Recording(RecordOptions options, Notices* notices) : options_(std::move(options)), notices_(notices) {}

  /// Chooses an engine. An Error if none works, or the one asked for does not.
  Result<void> choose_engine();

  /// Creates the file for the target and arms the engine; takes the next engine if one fails after all.
  Result<void> open(const Target& target);

  /// Lets the program go and counts until it ends, or for_ns is over. An Error if it could not be executed
  /// (nothing is left behind).
  Result<void> run(Child* child);

  /// Counts until the attachment ends, or for_ns is over.
  void watch(Attachment* attachment);

  /// Final drain, the CPU account, the file closed. `child`: null, or the command's. An Error if there is
  /// no whole file, or none that has a name.
  Result<void> finish(Child* child);

  /// Processes of the command, and the command itself if it is left running, that are no longer
  /// recorded. After finish().
  [[nodiscard]] const std::vector<pid_t>& left_behind() const { return left_behind_; }

  /// What is observed where there is no command.
  [[nodiscard]] Target running_target() const;

  /// What is held of the processes' files.
  [[nodiscard]] const ProcessFiles& files() const { return files_; }
  /// Ends the helper process that opens files. Call it before this process ends without destroying this.
  void end_helper() noexcept { files_.end_helper(); }

  /// The profile that finish() has closed.
  [[nodiscard]] RecordedFile recorded() const;

 private:
  void rule_out_unfit(EngineProbe* probe) const;
  void choose_period();
  void warn_of_limit(uint64_t shortest_ns) const;
  Result<void> start_engine(const Target& target);
  void announce() const;
  void drop_privileges();
  [[nodiscard]] bool replaces_later() const { return file_.replaces() && !options_.command.empty(); }
  void give_other_name(const Error& error);
  bool waits_for(Child* child);
  [[nodiscard]] std::vector<pid_t> find_left_behind(const Child& child) const;
  [[nodiscard]] Result<void> explain_failed_start(const Error& error, const Target& target) const;
  void drain_until(const std::vector<int>& descriptors, const std::function<bool()>& ended);
  void poll_account(uint64_t now);
  void show_drained(uint64_t now);
  [[nodiscard]] uint64_t noted_cpu_ns(uint64_t command_ns) const;
  void book_cpu_time(Child* child);
  void note_unobserved(const Child& child);
  [[nodiscard]] bool all_exited() const;
  Result<void> find_file();
  [[nodiscard]] std::string what() const;
  [[nodiscard]] std::string target_text() const;
  [[nodiscard]] std::unexpected<Error> explain_no_engine(const std::vector<EngineProbe>& refused) const;
  [[nodiscard]] Result<ProfileFile> create_file() const;

  RecordOptions options_;
  Notices* notices_;
  std::vector<EngineProbe> candidates_;  ///< engines still to be tried, best first
  std::string why_not_better_;           ///< why the better ones were passed over
  ProcessNote obstacle_ = ProcessNote::kNone;
  EngineSettings settings_;
  ProcessFiles files_;
  std::unique_ptr<Engine> engine_;
  CpuAccount account_;
  ProfileFile file_;
  std::string path_;
  UniqueFd closed_file_;
  Environment environment_;
  std::vector<pid_t> left_behind_;
  bool waiting_said_ = false;
  bool nameless_ = false;  ///< the file still has its temporary name
  uint64_t account_at_ = 0;
  uint64_t progress_at_ = 0;
};

}  // namespace pctally
