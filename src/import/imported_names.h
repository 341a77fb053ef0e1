// The names that came with imported profiles. Objects of such profiles have no file that could be
// asked: a position is a place in a table here, and the same function of the same object has the same
// one in every profile.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/base_name.h"
#include "object/symbolizer.h"
#include "profile/profile.h"

namespace pctally {

/// Functions of one object and places in them.
class ImportedObject {
 public:
  explicit ImportedObject(const std::string& path) : shown_(base_name(path)) {}

  /// The position of a place with these frames: innermost inlined first, the function itself
  /// last, never empty.
  uint64_t position(const std::vector<Frame>& frames);

  /// The position of the first byte of the function that `position` lies in.
  static uint64_t function_start(uint64_t position) { return position >> kPlaceBits << kPlaceBits; }

  [[nodiscard]] const std::string& shown() const { return shown_; }
  [[nodiscard]] NamedRange name(uint64_t position) const;
  [[nodiscard]] std::vector<Frame> frames(uint64_t position) const;

 private:
  static constexpr unsigned kPlaceBits = 32;

  struct Function {
    std::string name, linkage;
    std::vector<std::vector<Frame>> places;  ///< from number 1 on; 0 is the function without a line
    std::map<std::string, uint32_t> known;
  };

  std::string shown_;
  std::deque<Function> functions_;
  std::map<std::string, uint32_t> known_;  ///< by name and symbol
};

class ImportedNames {
 public:
  /// The object with that path and build id, as an entry of a profile that names itself here.
  Executable executable(const std::string& path, const std::vector<uint8_t>& build_id);

  /// REQUIRES: executable() returned it.
  ImportedObject& object(const Executable& executable) { return objects_[executable.stamp.inode - 1]; }

  /// Whether an executable has its names here and in no file.
  [[nodiscard]] bool knows(const FileStamp& stamp) const;

  /// Null where the names are not here.
  [[nodiscard]] std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) const;

 private:
  std::deque<ImportedObject> objects_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, uint64_t> known_;
};

}  // namespace pctally
