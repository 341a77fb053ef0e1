// Processes of the command's tree that the injected library is not in, each with a row that says why.
//
// The library registers each program image that it enters. One may follow in the same process that it could
// not enter: of another user, static, with a cleaned environment.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/kernel/proc_file.h"
#include "histfile/profile_file.h"

namespace pctally {

class NotEntered {
 public:
  /// `patience_ns`: how long the start of a program, or of a fork's child, may take on a busy machine.
  NotEntered(ProfileFile* file, pid_t root, uint64_t patience_ns = 100'000'000);

  /// Checks every living process of the tree, and those that a parent has left behind which has ended: they
  /// are known by their environment. A process that is found twice, `patience_ns` apart, without the
  /// recording in its memory gets its row, with the CPU time that it has used since the first time. Once is
  /// enough where its file or its environment says that the library cannot come: it may be gone the next
  /// time.
  void poll();

  /// The process whose image this record is, by the recorder's numbers; 0: gone, or none that has the
  /// recording in its memory. Searches the tree.
  [[nodiscard]] pid_t find_process(uint32_t unit, const ProcessRecord& record);

  /// Whether the recording is in its memory. Nothing where it is not ours to read: a process that made itself
  /// undumpable, as sandboxes do.
  [[nodiscard]] std::optional<bool> maps_recording(pid_t pid) const;

  /// After the last poll: takes back the reason of those that the library has entered after all, as the start
  /// of a program may take long on a busy machine.
  void end();

 private:
  struct Process {
    unsigned meetings = 0;  ///< while it had not been entered
    uint32_t row = 0;
    uint64_t met_ns = 0;                          ///< when the first was,
    uint64_t first_ns = 0;                        ///< and the CPU time it had used then
    ProcessNote note = ProcessNote::kNotEntered;  ///< why, as far as is known while it has no row
    std::string program;                          ///< the file that it ran when it got its row
  };

  [[nodiscard]] pid_t owner_of(uint32_t unit, const ProcessRecord& record);
  [[nodiscard]] bool has_entered(pid_t pid, const ProcStat& now, uint32_t row);
  [[nodiscard]] ProcessNote reason_of(pid_t pid, const std::string& link, const std::string& program) const;
  [[nodiscard]] ProcessNote reason(pid_t pid, ProcessNote before) const;
  [[nodiscard]] bool is_due(pid_t pid, const Process& process) const;
  [[nodiscard]] bool cannot_be_entered(pid_t pid, ProcessNote note) const;
  [[nodiscard]] std::optional<bool> is_of_command(pid_t pid) const;
  [[nodiscard]] std::vector<pid_t> with_orphans(std::vector<pid_t> tree);
  void meet(pid_t pid, Process* process);
  void add_row(pid_t pid, Process* process);
  static void take_back(ProcessRecord* record);
  void update_row(pid_t pid, const ProcStat& now, const Process& process) const;

  ProfileFile* file_;
  pid_t root_;
  uint64_t root_started_ns_ = 0;
  uint64_t patience_ns_;
  std::string directory_;                      ///< that the profile file is in
  std::pair<uint64_t, uint64_t> recording_{};  ///< the profile file's device and inode in /proc/PID/maps
  std::string given_;  ///< what the environment of the command and its children has of the recording
  std::unordered_map<pid_t, Process> processes_;
  std::set<pid_t> unrelated_;                    ///< children of the reapers that are not of the command
  std::unordered_map<uint32_t, pid_t> owners_;   ///< of records, once they were found
  std::unordered_map<uint32_t, unsigned> rows_;  ///< all that were added: how often their process was met
};

}  // namespace pctally
