// The mapped profile file, as its writers see it: created, preallocated and grown by the recorder; joined by
// the processes it injects itself into. It stays readable whoever is killed when.
#pragma once
#include <sys/time.h>

#include "base/mapped_file.h"
#include "base/result.h"
#include "base/time_ns.h"
#include "base/unique_fd.h"
#include "histfile/layout.h"

namespace pctally {

class ProfileFile {
 public:
  struct Settings {
    const char* path = nullptr;
    bool overwrite = false;  ///< replace an existing regular file (it is unlinked, never written into)
    const char* engine = "";
    const char* event = "";  ///< see FileHeader
    uint64_t period_asked_ns = 0;
    uint64_t period_ns = 0;
    uint64_t clock_tick_ns = 0;
    bool kernel_observed = false;
    bool deferred = false;  ///< processes will put ticks aside: make room for them
    uint64_t bytes = kInitialBytes;
  };

  /// Creates the file: O_EXCL, O_NOFOLLOW, mode 0600 whatever the umask, disk space allocated, locked for its
  /// recorder's life. Errors: EEXIST, ENOSPC/EDQUOT/EFBIG (nothing is left behind), whatever open(2) says.
  static Result<ProfileFile> create(const Settings& settings);

  /// Maps a file another process records into. Errors: EACCES, ENOENT, EINVAL (not a live profile file of
  /// ours).
  static Result<ProfileFile> join(const char* path);

  [[nodiscard]] FileHeader& header() const noexcept { return *reinterpret_cast<FileHeader*>(map_.data()); }
  [[nodiscard]] Pool pool() const noexcept;
  [[nodiscard]] DeferredRing* deferred() const noexcept;
  [[nodiscard]] const MappedFile& mapping() const noexcept { return map_; }

  /// Recorder only: allocates disk space so that at least `units` more can be taken. False when the disk,
  /// RLIMIT_FSIZE or kLargestBytes forbids: the recording goes on, ticks without room are booked as full.
  bool make_room(uint64_t units) noexcept;

  /// Recorder only: everything up to now is in the file.
  void beat() noexcept;

  /// Recorder only: marks the file closed; `cut` also cuts it to the used size. REQUIRES for cut: no other
  /// process counts into it any more, or its next new leaf would lie behind the end of the file. Errors: EIO
  /// (somebody has cut or overwritten it: it is left as it is), that of ftruncate(2).
  Result<void> close(bool cut) noexcept;

 private:
  [[nodiscard]] Result<void> check_whole() const noexcept;

  MappedFile map_;
  UniqueFd fd_;  ///< the recorder's, locked; invalid after join()
  /// What the header says, too; but there any program that maps the file may change it.
  uint32_t allocated_ = 0;  ///< recorder only: units of the pool with disk space
  uint32_t deferred_ = 0;   ///< unit of the DeferredRing, checked; 0: none
  bool out_of_room_ = false;
};

}  // namespace pctally
