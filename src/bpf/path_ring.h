// The ring in which the BPF program hands paths over, as the recorder reads it. Layout: kernel/bpf/ringbuf.c.
#pragma once
#include <stdint.h>

#include "base/file/mapped_file.h"
#include "base/unique_fd.h"
#include "bpf/path_tables.h"

namespace pctally {

class PathRing {
 public:
  /// Maps the ring of a BPF map; the descriptor is borrowed, and outlives it.
  static Result<PathRing> map(int fd, size_t bytes);

  /// Readable when the program has woken the reader since the last visit(): the map's own descriptor is as
  /// soon as anything is in the ring.
  [[nodiscard]] int fd() const noexcept { return wake_ups_.get(); }

  /// Calls visit(const pctally_path&) for what has come since the last call. The path is only as long as it
  /// says. It stays there until release().
  template <class Visit>
  void visit(Visit&& visit) {
    take_wake_up();
    while (const pctally_path* path = next()) visit(*path);
  }

  /// The kernel may use the space again of all that was visited.
  void release() noexcept;

 private:
  void take_wake_up() noexcept;
  const pctally_path* next() noexcept;
  [[nodiscard]] uint64_t produced() const noexcept;

  UniqueFd wake_ups_;
  size_t bytes_ = 0;
  uint64_t at_ = 0;
  MappedFile consumer_;
  MappedFile all_;
};

}  // namespace pctally
