// The data that every exporter writes: places in the code with their source frames and ticks. They add up
// to the ledger exactly: ticks without a place are samples with a name in brackets.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/names/object_names.h"
#include "report/names/shown_names.h"

namespace pctally {

/// A place in the code with its source frames.
struct Location {
  static constexpr uint32_t kNowhere = UINT32_MAX;

  uint32_t executable = kNowhere;  ///< index into Profile::executables; kNowhere: none, as of "[lost]"
  uint64_t position = 0;           ///< as of WeightedPosition
  uint64_t address = 0;            ///< the same as ObjectAddress, as objdump(1) prints it; 0: not known
  uint64_t start = 0;  ///< ObjectAddress of the function itself, which distinguishes it from others of its
                       ///< name; 0: not known, or no other has it
  std::vector<Frame> frames;  ///< innermost inlined first, the function itself last; never empty; each with
                              ///< its linkage name, whatever it is called
  bool is_scope = false;  ///< frames are no functions: the thread, if it is known, and its program; or the
                          ///< control group
  bool is_placed = true;  ///< false: position and address are numbers that an import gave to frames
};

struct Sample {
  std::vector<uint32_t>
      stack;  ///< of Samples::locations: where the ticks fell, then its callers; never empty
  uint64_t ticks = 0;
  std::string thread{};  ///< its name, where threads are known
};

struct Samples {
  std::vector<std::string> objects;  ///< as shown, one for each executable
  std::vector<Location> locations;
  std::vector<Sample> samples;
  bool with_callers = false;  ///< the outermost location of each stack is then its scope

  [[nodiscard]] const Location& place_of(const Sample& sample) const {
    return locations[sample.stack.front()];
  }
};

/// Whether an executable has its names in another tool's profile alone, and no addresses.
using IsImported = bool (*)(const Executable& executable);

/// `lines`: with source lines and inlined frames, which takes reading the debug information; else functions
/// alone. Two functions of one object get the same name only if one is inlined, or has no known address.
Samples samples_of(const Profile& profile, const OpenSymbolizer& open, bool lines,
                   NameStyle names = NameStyle::kFull, IsImported is_imported = nullptr);

/// The same with the callers of each place and its scope, of a profile with scopes. With call paths the
/// innermost location is the function that ran, at its first byte.
Samples stacks_of(const Profile& profile, const OpenSymbolizer& open, bool lines,
                  NameStyle names = NameStyle::kFull, IsImported is_imported = nullptr);

/// "cpu" and "nanoseconds", or the event and "count"; of an import what it had.
struct ValueKind {
  std::string type;
  std::string unit;
};
ValueKind value_kind(const Profile& profile);

}  // namespace pctally
