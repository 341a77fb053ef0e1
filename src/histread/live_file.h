// A profile file as its readers see it: opened once, copied any number of times while others count into it.
//
// Refuses to map it (whoever cuts the file would fault the reader) and to disturb its writers: no lock is
// held, nothing is stored.
#pragma once
#include "base/unique_fd.h"
#include "histread/reader.h"

namespace pctally {

/// A copy of the part of a file that is in use, and what the reader found in it.
struct FileCopy {
  std::vector<unsigned char> bytes;
  FileContents contents;
  bool recorder_alive = false;  ///< somebody holds the recorder's lock
  /// All of it is from one moment between two ticks. Otherwise each count is from a moment of its own during
  /// the copy, or a thread stands inside its tick or died there: every tick is in it once, in part, or not
  /// yet.
  bool still = false;
};

class LiveFile {
 public:
  /// Opens a regular file without ever blocking on anything else. Errors: open(2)'s, EINVAL; naming the path.
  static Result<LiveFile> open(const char* path);

  /// Copies until nothing was counted meanwhile, or patience is out: 20 ms, but never before a second
  /// attempt, however slow the machine, as it takes two to see that a file rests. A second more, and four
  /// attempts at least, are spent where a tree of call paths was pruned meanwhile, or copied without a node's
  /// parent.
  /// Whatever the file says, time and memory are bounded by the size of the file. Errors: EINVAL (not
  /// a profile file), read(2)'s.
  [[nodiscard]] Result<FileCopy> copy() const;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  UniqueFd fd_;
};

/// Ticks in all cells of a copy.
uint64_t sum_of_cells(const FileContents& contents);

/// Makes the account of a growing file exact, as docs/profile-file.md has it: counted is the sum of the
/// cells, ticks put aside and not resolved are outside, and no process claims what no cell has. What it
/// claims is taken from the largest first. Returns the ticks taken that the account has not as lost by their
/// process.
uint64_t balance_account(FileContents* contents);

}  // namespace pctally
