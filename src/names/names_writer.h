// Makes the names section of a profile file. Refuses to make one that could not be read.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "histfile/names_layout.h"
#include "object/symbolizer.h"

namespace pctally {

/// The text of the error EFBIG.
inline constexpr char kTooLargeNames[] = "the names would take more than 1 GiB";

using FunctionSpan = std::pair<uint64_t, uint64_t>;  ///< start and end

/// As of CodeBytes; the bytes lie elsewhere.
struct CodeView {
  std::string_view bytes{};
  uint16_t machine = 0;
  uint64_t changed_unix_ns = 0;
  auto operator<=>(const CodeView&) const = default;
};
using FunctionCode = std::map<FunctionSpan, CodeView>;

/// Valid as long as `code` is.
FunctionCode views_of(const std::map<FunctionSpan, CodeBytes>& code);

/// Calls come in the order of the tables: an object, then what is in it, ascending. Names that are too long
/// for a section are cut.
class NamesWriter {
 public:
  /// `code`: of any function of the object, for what is the same for all of them.
  void add_object(const ExecutableIdentity& identity, const CodeView& code = {});

  /// Names `positions` (ascending) of the last object `ranges`, one each. What has no name at all is left
  /// out: a reader asks the executable then.
  void add_ranges(std::span<const uint64_t> positions, std::span<const NamedRange> ranges);

  /// The code of the last object's ranges. One without code of its own gets the beginning of that of the next
  /// longer function which starts there: a symbol may end before the function does. Not so code made at run
  /// time.
  void add_code(const FunctionCode& code);

  /// The frames of [position, position + bytes), in the last object. None: the place is known to have no
  /// line. A place whose frames take more than a section may have is left out: a reader asks the executable
  /// then.
  void add_place(uint64_t position, uint32_t bytes, std::span<const Frame> frames);

  /// `changed_unix_ns`: kTextsDiffer: there are several texts, and none is kept. False: it has no room, and
  /// is left out.
  bool add_source(const std::string& path, std::string_view text, uint64_t changed_unix_ns);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// Memory that this takes and that bytes() will take, estimated from above.
  [[nodiscard]] uint64_t memory() const;
  /// What add_code() adds to it at most.
  [[nodiscard]] static uint64_t memory_for(const FunctionCode& code);
  /// The section. Equal calls give equal bytes. Error: no reader would take it, and why.
  [[nodiscard]] Result<std::vector<unsigned char>> bytes() const;

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
  size_t first_range_ = 0;  ///< of the last object
};

}  // namespace pctally
