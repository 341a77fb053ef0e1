// The mapped profile file, as its writers see it: created, preallocated and grown by the recorder; joined by
// the processes it injects itself into. It stays readable whoever is killed when.
#pragma once
#include <sys/time.h>

#include "base/file/mapped_file.h"
#include "base/file/new_file.h"
#include "base/result.h"
#include "base/time_ns.h"
#include "histfile/layout.h"

namespace pctally {

/// A process that may map less (RLIMIT_AS) maps of a profile file what is there then, and no growth.
inline constexpr uint64_t kLeastFreeSpace = 8 * kLargestBytes;

/// How a profile file is made, or one replaced: never a file of another kind.
NewFile::Plan profile_plan(const char* path, bool overwrite) noexcept;

/// A recording's identity in hexadecimal digits.
struct RecordingId {
  char text[2 * sizeof(FileHeader::recording_id) + 1] = {};
};

class ProfileFile {
 public:
  struct Settings {
    const char* path = nullptr;
    bool overwrite = false;  ///< an older profile may be replaced, by place() (it is never written into)
    const char* engine = "";
    const char* event = "";  ///< see FileHeader
    uint64_t period_asked_ns = 0;
    uint64_t period_ns = 0;
    uint64_t clock_tick_ns = 0;
    bool kernel_observed = false;
    bool deferred = false;  ///< see expect_programs()
    uint64_t bytes = kInitialBytes;
  };

  /// Creates the file under a temporary name (base/file/new_file.h): mode 0600 whatever the umask, disk space
  /// allocated, locked for its recorder's life. Errors: those of NewFile::create, ENOSPC/EDQUOT/EFBIG
  /// (nothing is left behind).
  static Result<ProfileFile> create(const Settings& settings);

  /// Maps the file that another process records into and will call, or calls, `path`. Errors: EACCES, ENOENT,
  /// EINVAL (not a live profile file of ours), ESTALE (its recording is not the one of that `id`).
  static Result<ProfileFile> join(const char* path, const char* id);

  /// The id of this recording: programs started by an earlier one at the same path do not know it.
  [[nodiscard]] RecordingId recording_id() const noexcept;

  /// True if place() will cost an older file.
  [[nodiscard]] bool replaces() const noexcept { return own_.replaces(); }

  /// Gives it its name. What had it before is lost only now. Errors: those of NewFile::place.
  Result<void> place() { return own_.place(); }

  /// Gives it another name, which path() is then. Errors: those of NewFile::place_beside.
  Result<void> place_beside() { return own_.place_beside(); }
  [[nodiscard]] const char* path() const noexcept { return own_.path(); }

  /// Removes it: there will be no recording.
  void discard() noexcept { own_.discard(); }

  /// The descriptor of the recorder's file, until close().
  [[nodiscard]] int fd() const noexcept { return own_.fd(); }

  [[nodiscard]] FileHeader& header() const noexcept { return *reinterpret_cast<FileHeader*>(map_.data()); }
  [[nodiscard]] Pool pool() const noexcept;
  [[nodiscard]] DeferredRing* deferred() const noexcept;
  [[nodiscard]] const MappedFile& mapping() const noexcept { return map_; }

  /// True in the process that created it (the recorder), until close().
  [[nodiscard]] bool is_own() const noexcept { return own_.fd() >= 0; }

  /// True if `units` may be taken now and leave the ticks that come before the recorder makes room theirs.
  [[nodiscard]] bool can_spare(uint64_t units) const noexcept;

  /// Recorder only: allocates disk space so that at least `units` more can be taken. False when the disk,
  /// RLIMIT_FSIZE or kLargestBytes forbids: the recording goes on, ticks without room are booked as full.
  bool make_room(uint64_t units) noexcept;

  /// Recorder only: processes will put ticks aside. Takes their ring; from now on make_room() leaves room for
  /// a program that begins. False if there is none for the ring.
  bool expect_programs() noexcept;

  /// Why make_room() failed last: ENOMEM (not as much is mapped: RLIMIT_AS), EFBIG (RLIMIT_FSIZE), ENOSPC
  /// (also of a file that has kLargestBytes), EDQUOT, EIO and EBADF (see close()), or another of
  /// posix_fallocate(3). 0: it has not.
  [[nodiscard]] int no_room_code() const noexcept { return no_room_code_; }

  /// Recorder only: everything up to now is in the file.
  void beat() noexcept;

  /// Recorder only: marks the file closed; `cut` also cuts it to the used size. REQUIRES for cut: no other
  /// process counts into it any more, or its next new leaf would lie behind the end of the file. Errors: EIO
  /// (somebody has cut or overwritten it: it is left as it is), EBADF (the program has closed its descriptor:
  /// it is closed and complete, but not cut), that of ftruncate(2).
  Result<void> close(bool cut) noexcept;

  /// In the child of a fork(2), which may make no system call: its copy of the descriptor stays open.
  void leave_open() noexcept { own_.leave_open(); }

 private:
  static Result<ProfileFile> join_at(const char* path, const char* id);
  [[nodiscard]] Result<void> check_whole() const noexcept;
  bool have_no_room(int code) noexcept;

  MappedFile map_;
  NewFile own_;  ///< the recorder's, locked; none after join()
  /// What the header says, too; but there any program that maps the file may change it.
  uint32_t allocated_ = 0;  ///< recorder only: units of the pool with disk space
  uint32_t deferred_ = 0;   ///< unit of the DeferredRing, checked; 0: none
  bool out_of_room_ = false;
  int no_room_code_ = 0;
};

}  // namespace pctally
