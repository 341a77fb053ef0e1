// The bytes of the names section of a profile file, which lies behind its pool: what the places that were hit
// are called. docs/profile-file.md is its prose.
//
// FileHeader::names is the unit it starts at. Readers that know none stop at the end of the pool. Everything
// lies in six tables; offsets are from the start of the section.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally {

inline constexpr char kNamesMagic[8] = {'p', 'c', 't', 'n', 'a', 'm', 'e', 's'};
inline constexpr uint32_t kNamesVersion = 1;
inline constexpr uint64_t kLargestNamesBytes = 1u << 30;

struct NamesTable {
  uint64_t offset;  ///< of the first record
  uint64_t count;   ///< records; of `text`: bytes
};

/// Two units.
struct NamesHead {
  char magic[8];
  uint32_t version;
  uint32_t unused;
  uint64_t bytes;  ///< of the whole section, with this head
  NamesTable text;
  NamesTable objects;
  NamesTable ranges;
  NamesTable places;  ///< archives only, as the next three; and of a JIT's code, where a jitdump has lines
  NamesTable frames;
  NamesTable sources;
  uint8_t unused_too[8];
};
static_assert(sizeof(NamesHead) == 128 && offsetof(NamesHead, text) == 24);

/// Bytes of the table `text`.
struct NamesText {
  uint32_t offset;
  uint32_t bytes;
};

/// What an ObjectRecord says of an object: by these fields its names are found.
struct NamesObject {
  uint32_t kind;
  int32_t owner;
  NamesText path;
  uint32_t build_id_bytes;
  uint32_t machine;  ///< e_machine of its code; 0: not known
  uint8_t build_id[32];
  uint64_t device;
  uint64_t inode;
  uint64_t file_bytes;
  uint64_t time_unix_ns;
  uint64_t changed_unix_ns;  ///< when its file was last changed; 0: not known
  uint8_t boot_id[16];       ///< of an object whose addresses are of one boot; else 0
  uint8_t unused[16];
};
static_assert(sizeof(NamesObject) == 128 && offsetof(NamesObject, boot_id) == 96);

/// A function that was hit. Positions from `first_hit` to `last_hit` belong to it, whatever else lies there:
/// where functions overlap one may have several records.
struct NamesRange {
  uint32_t object;  ///< index
  uint32_t unused;
  uint64_t first_hit;
  uint64_t last_hit;
  uint64_t start;  ///< of the function, as the next
  uint64_t end;
  uint64_t address;  ///< ObjectAddress of `start`, where positions are something else
  NamesText name;
  NamesText linkage;  ///< symbol that `name` is the demangled form of; empty if that is the same
  NamesText code;     ///< archives, JITs: the bytes from `start` on; empty if they are not here
};
static_assert(sizeof(NamesRange) == 72 && offsetof(NamesRange, name) == 48);

/// Positions that are one place in the source.
struct NamesPlace {
  uint32_t object;
  uint32_t bytes;  ///< length
  uint64_t position;
  uint32_t first_frame;  ///< index
  uint32_t frames;       ///< innermost inlined first, the function itself last; 0: it has no line
};
static_assert(sizeof(NamesPlace) == 24);

struct NamesFrame {
  NamesText function;
  NamesText linkage;
  NamesText file;
  uint32_t line;
  uint32_t start_line;  ///< where the function is declared, in `file`; 0: not known
};
static_assert(sizeof(NamesFrame) == 32);

/// NamesSource::changed_unix_ns of a source without text: the parts of a sum have different texts of it.
inline constexpr uint64_t kTextsDiffer = UINT64_MAX;

struct NamesSource {
  NamesText path;  ///< as frames have it
  NamesText text;
  uint64_t changed_unix_ns;
};
static_assert(sizeof(NamesSource) == 24);

}  // namespace pctally
