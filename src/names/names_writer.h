// Makes the names section of a profile file.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "histfile/names_layout.h"
#include "object/symbolizer.h"

namespace pctally {

/// Calls come in the order of the tables: an object, then what is in it, ascending. Names that are too long
/// for a section are cut.
class NamesWriter {
 public:
  /// `code`: of any function of the object, for what is the same for all of them.
  void add_object(const ExecutableIdentity& identity, const CodeBytes& code = {});

  /// Names `positions` (ascending) of the last object `ranges`, one each. What has no name at all is left
  /// out: a reader asks the executable then.
  void add_ranges(std::span<const uint64_t> positions, std::span<const NamedRange> ranges);

  /// The code of the function whose range starts there, of the last object.
  void add_code(uint64_t start, std::span<const uint8_t> bytes);

  /// The frames of [position, position + bytes), in the last object. None: the place is known to have no
  /// line.
  void add_place(uint64_t position, uint32_t bytes, std::span<const Frame> frames);

  void add_source(const std::string& path, std::string_view text, uint64_t changed_unix_ns);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// The section. Equal calls give equal bytes.
  [[nodiscard]] std::vector<unsigned char> bytes() const;

 private:
  NamesText add_text(std::string_view text);
  NamesText add_name(const std::string& name);

  std::string text_;
  std::unordered_map<std::string, NamesText> known_;
  std::unordered_map<std::string, uint32_t> known_frames_;  ///< first frame, by their bytes
  std::vector<NamesObject> objects_;
  std::vector<NamesRange> ranges_;
  std::vector<NamesPlace> places_;
  std::vector<NamesFrame> frames_;
  std::vector<NamesSource> sources_;
};

}  // namespace pctally
