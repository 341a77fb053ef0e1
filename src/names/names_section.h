// The names section of a profile file, read: tables of plain records whose every index was checked.
//
// Refuses a section in which anything refers to what is not there, or that is not in order: it may be forged.
#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "histfile/names_layout.h"

namespace pctally {

inline constexpr uint32_t kLongestName = 1 << 16;  ///< bytes of a name or path
inline constexpr uint32_t kMostInlined = 1 << 10;  ///< frames of a place
/// Bytes of a place's frames in memory: their text, and kBytesPerFrame each. Readers copy and compare them
/// for each place, and many places may share them: a small file would take any time and memory.
inline constexpr uint32_t kMostPlaceBytes = 1 << 18;
inline constexpr uint32_t kBytesPerFrame = 128;
inline constexpr uint32_t kMostSource = 4 << 20;  ///< bytes of a source
inline constexpr uint32_t kMostCode = 4 << 20;    ///< bytes of a function's code

class NamesSection {
 public:
  static Result<NamesSection> parse(std::vector<unsigned char> bytes);

  [[nodiscard]] std::span<const NamesObject> objects() const { return objects_; }
  /// The ranges of one object, ascending by `first_hit`; no two share a position from first to last hit.
  [[nodiscard]] std::span<const NamesRange> ranges(uint32_t object) const;
  /// The places of one object, ascending, none overlaps another.
  [[nodiscard]] std::span<const NamesPlace> places(uint32_t object) const;
  [[nodiscard]] std::span<const NamesFrame> frames(const NamesPlace& place) const;
  [[nodiscard]] std::span<const NamesSource> sources() const { return sources_; }
  [[nodiscard]] std::string_view text(NamesText text) const;

  /// Memory that it takes.
  [[nodiscard]] uint64_t memory() const;

  /// The bytes that it was read from.
  [[nodiscard]] std::vector<unsigned char> take_bytes() && { return std::move(bytes_); }

 private:
  explicit NamesSection(std::vector<unsigned char> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] Result<void> read_tables();
  template <class Record>
  [[nodiscard]] bool read_table(const NamesTable& table, std::vector<Record>* records) const;
  [[nodiscard]] bool holds(NamesText text, uint32_t most) const;
  [[nodiscard]] bool objects_are_sound() const;
  [[nodiscard]] bool ranges_are_sound() const;
  [[nodiscard]] bool places_are_sound() const;
  [[nodiscard]] bool frames_are_sound() const;
  [[nodiscard]] bool sources_are_sound() const;

  std::vector<unsigned char> bytes_;
  NamesTable text_{};
  std::vector<NamesObject> objects_;
  std::vector<NamesRange> ranges_;
  std::vector<NamesPlace> places_;
  std::vector<NamesFrame> frames_;
  std::vector<NamesSource> sources_;
};

}  // namespace pctally
