// The objects that observed processes have mapped. An object gets records in the file, and its text a
// directory, at the first tick there: most of what is mapped has no tick.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "path/kept_identity.h"
#include "process/address_space.h"

namespace pctally {

/// Not thread-safe.
class MappedObjects {
 public:
  MappedObjects() = default;
  explicit MappedObjects(ProfileFile* file) : file_(file) {}

  /// The same number for the same object, not 0.
  uint32_t number_of(const ObjectIdentity& identity);

  [[nodiscard]] const ObjectIdentity& identity(uint32_t number) const { return at(number).identity.get(); }

  /// Units of the segments it has.
  [[nodiscard]] std::span<const uint32_t> segments(uint32_t number) const { return at(number).segments; }

  struct Segment {
    uint32_t unit = 0;  ///< 0: there is none
    TextRange range{};
  };
  /// A segment of the object that covers `range`.
  [[nodiscard]] Segment find_segment(uint32_t number, const TextRange& range) const;

  /// Makes one. Unit 0: the pool is used up.
  Segment add_segment(uint32_t number, const TextRange& range);

  /// True if it is time to forget some: processes may map files without end.
  [[nodiscard]] bool are_many() const { return by_key_.size() >= many_; }
  /// Forgets the objects without a segment whose numbers are not set in `mapped`, which has one flag for each
  /// number below end_number().
  void forget_others(const std::vector<bool>& mapped);
  [[nodiscard]] size_t end_number() const { return objects_.size() + 1; }
  [[nodiscard]] size_t size() const { return by_key_.size(); }

 private:
  struct Object {
    KeptIdentity identity;
    std::string key;
    std::vector<uint32_t> segments{};
    std::vector<TextRange> ranges{};  ///< of each segment
  };
  [[nodiscard]] const Object& at(uint32_t number) const { return *objects_[number - 1]; }

  ProfileFile* file_ = nullptr;
  std::vector<std::unique_ptr<Object>> objects_;  ///< null where a number is free
  std::vector<uint32_t> free_numbers_;
  std::unordered_map<std::string, uint32_t> by_key_;
  size_t many_ = 8192;
};

}  // namespace pctally
