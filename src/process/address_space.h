// The executable memory of one process as a RegionTable over the recorder's cells.
#pragma once
#include <span>

#include "base/file/mapped_array.h"
#include "base/result.h"
#include "histfile/histogram.h"

namespace pctally {

struct ExecutableMapping;

/// Code without a file is counted in windows of that many bytes of addresses.
inline constexpr uint64_t kWindowBytes = uint64_t{64} << 10;

/// Bytes of an object that one segment has.
struct TextRange {
  uint64_t start = 0;
  uint64_t bytes = 0;
  [[nodiscard]] bool covers(const TextRange& other) const noexcept {
    return other.start >= start && other.bytes <= bytes && other.start - start <= bytes - other.bytes;
  }
};

/// What waits for the first tick in a mapping, as seen from one of its bytes.
struct WaitingText {
  uint32_t object = 0;  ///< the caller's number for it; 0: nothing waits there
  TextRange range{};    ///< that its segment is to cover
};

/// Regions of one process. A value: copying (assign) is what fork does to a process's memory. Not
/// thread-safe; build a new one to replace a published one.
class AddressSpace {
 public:
  /// Adds a mapping; what it covers of older ones is gone from them. Unit of its SegmentRecord; 0 when the
  /// pool or memory is used up: ticks there will be outside.
  uint32_t map(ProfileFile& file, uint64_t start, uint64_t end, uint64_t position,
               const ObjectIdentity& object) noexcept;
  uint32_t map(ProfileFile& file, const ExecutableMapping& mapping) noexcept;

  /// As map(), but nothing is taken from the pool: ticks there find no room until give_segment(). `object` is
  /// the caller's number for it, not 0, and `segments` are those it has. False without memory.
  bool map_later(const ProfileFile& file, uint64_t start, uint64_t end, uint64_t position, uint32_t object,
                 std::span<const uint32_t> segments) noexcept;

  [[nodiscard]] WaitingText waiting_at(uint64_t pc) noexcept;

  /// Counts what waits at `pc` in `segment`, as far as that reaches. Older tables are then of no use.
  /// REQUIRES: waiting_at(pc).object is the segment's, and `range` what the segment covers, pc included.
  void give_segment(const ProfileFile& file, uint64_t pc, uint32_t segment, const TextRange& range) noexcept;

  /// Calls visit(number) for the object of every mapping that waits.
  template <class Visit>
  void for_each_waiting(Visit&& visit) const {
    for (const MappedArray<Region>* regions : {&regions_, &fresh_})
      for (const Region& region : *regions)
        if (region.waits) visit(region.segment);
  }

  /// Takes away what [start, end) covers of files: something without a file is there now.
  void unmap_files(uint64_t start, uint64_t end) noexcept;

  /// How often map() and unmap_files() took the place of another file's text.
  [[nodiscard]] uint64_t replacements() const noexcept { return replacements_; }

  /// Makes room for ticks at `pc`, which lies in no mapping of a file: code a JIT wrote, or the kernel's.
  /// Keyed by address, in windows of 64 KiB, so that reserved but cold memory costs nothing. False when the
  /// pool is used up.
  bool map_window(ProfileFile& file, uint64_t pc, const ObjectIdentity& object) noexcept;

  /// All file mappings of a process (0: this one), from /proc, and a window around `pc` if it lies in
  /// executable memory without a file. False if /proc cannot be read.
  bool map_process(ProfileFile& file, int32_t pid, uint64_t pc = 0) noexcept;

  [[nodiscard]] bool copy_from(AddressSpace& other) noexcept;
  void clear() noexcept {
    regions_.clear();
    fresh_.clear();
  }

  /// A table over the regions, valid until the next change.
  RegionTable table(const ProfileFile& file, uint32_t process) noexcept;

  [[nodiscard]] size_t size() const noexcept { return regions_.size() + fresh_.size(); }

 private:
  bool cut(uint64_t low, uint64_t last) noexcept;
  template <class IsSame>
  bool put(const Region& region, IsSame&& is_same) noexcept;
  bool insert(const Region& region) noexcept;
  bool merge() noexcept;
  [[nodiscard]] size_t first_from(uint64_t address) const noexcept;
  [[nodiscard]] bool is_free(uint64_t low, uint64_t last) const noexcept;

  /// Ascending, without overlaps. One that waits has the object's number for a segment and the
  /// position of its first byte for a bias.
  MappedArray<Region> regions_;
  MappedArray<Region> fresh_;  ///< not yet among them; overlap with nothing
  uint64_t replacements_ = 0;
};

/// Stands for unknown code; `reason`, why it is unknown, is its name in reports, in brackets.
ObjectIdentity unknown_object(std::string_view reason) noexcept;
inline constexpr std::string_view kSinceUnmapped = "[code since unmapped]";

/// The object that code without a file belongs to.
ObjectIdentity private_object(int32_t pid) noexcept;
ObjectIdentity kernel_object() noexcept;

}  // namespace pctally
