// The process records of engines that observe from outside. A machine starts processes without end, and a
// file has room for kMostProcesses. When half of it is used, processes that have ended are added up in one
// row for each program.
//
// The recorder is the only writer. A reader of the live file may see a process in both places, or in none,
// for a moment.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "histfile/profile_file.h"

namespace pctally {

class ProcessRows {
 public:
  ProcessRows() = default;
  ProcessRows(ProfileFile* file, std::string engine) : file_(file), engine_(std::move(engine)) {}

  /// Unit of a record for a process: see add_process().
  uint32_t add(pid_t pid, pid_t parent, std::string_view comm);

  /// Nothing will be counted for that record any more: it may be given to another process.
  void end(uint32_t unit);

  /// The program's name changes; that of a record that stands for many does not.
  void rename(uint32_t unit, std::string_view comm);

 private:
  uint32_t take_ended();

  ProfileFile* file_ = nullptr;
  std::string engine_;
  uint32_t made_ = 0;
  std::deque<uint32_t> ended_;                          ///< the oldest first
  std::unordered_map<std::string, uint32_t> programs_;  ///< name -> the row of those that have ended
};

}  // namespace pctally
