// Adds the records that the recorder's cells belong to: objects, their segments, the processes that ran.
// All records are taken from the pool and pushed onto chains by compare-and-swap, so any number of
// processes may add at once, and a process that dies half-way leaves an unreachable record and nothing
// worse. Racing writers may add the same object twice; readers add up.
#pragma once
#include <string_view>

#include "histfile/profile_file.h"
#include "tick/region.h"

namespace pctally {

/// What makes two mappings the same object: everything here. A hash finds it, comparing decides.
struct ObjectIdentity {
  ObjectKind kind = ObjectKind::kFile;
  std::string_view path;
  const uint8_t* build_id = nullptr;
  uint32_t build_id_bytes = 0;  ///< 0..32
  int32_t owner = 0;
  uint64_t device = 0;  ///< kept, but not compared, if there is a build id
  uint64_t inode = 0;
  uint64_t file_bytes = 0;  ///< as ObjectRecord
  uint64_t time_unix_ns = 0;
};

/// Unit of a new StringRecord; 0 when the pool is used up.
uint32_t add_string(const Pool& pool, std::string_view text) noexcept;

/// Unit of the object's record; 0 when the pool is used up.
uint32_t find_or_add_object(const ProfileFile& file, const ObjectIdentity& identity) noexcept;

/// Unit of a segment of `object` that covers [start, start + bytes); 0: none does.
uint32_t find_segment(const ProfileFile& file, uint32_t object, uint64_t start, uint64_t bytes) noexcept;

/// The same, made if there is none; 0 when the pool is used up.
uint32_t find_or_add_segment(const ProfileFile& file, uint32_t object, uint64_t start,
                             uint64_t bytes) noexcept;

/// True if byte `index` of the text with that directory has a cell already.
bool has_cell(const Pool& pool, uint32_t directory, uint64_t index) noexcept;

/// Units that find_or_add_segment may take for `bytes` of text: for make_room().
uint64_t segment_units(uint64_t bytes) noexcept;

/// Unit of a new process record, or of the one that stands for all beyond kMostProcesses; 0 when the pool
/// is used up.
uint32_t add_process(const ProfileFile& file, int32_t pid, int32_t parent, std::string_view comm,
                     std::string_view engine) noexcept;

/// Sets a process's name, as exec and prctl(PR_SET_NAME) do.
void rename_process(ProcessRecord* process, std::string_view comm) noexcept;

/// A region for runtime addresses [low, last] whose first byte is position `position` of `segment`.
/// REQUIRES: the segment covers it.
Region tree_region(const Pool& pool, uint64_t low, uint64_t last, uint32_t segment,
                   uint64_t position) noexcept;

}  // namespace pctally
