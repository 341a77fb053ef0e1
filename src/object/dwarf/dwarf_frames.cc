#include "object/dwarf/dwarf_frames.h"

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "object/dwarf/dwarf_digests.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_inline.h"
#include "object/dwarf/dwarf_line.h"
#include "object/dwarf/dwarf_names.h"

namespace pctally {
namespace {

/// What is known of a unit with hits; units without are never read.
struct IndexedUnit {
  IndexedUnit(const DwarfFile::Unit& unit, AddressRange text, DwarfNames* names)
      : lines(unit.die, text), functions(unit.inner, text, names), directory_(unit.directory) {}
  /// About what it takes, with what libdw keeps of it.
  [[nodiscard]] uint64_t bytes() const {
    constexpr uint64_t kOfRow = 96, kOfFunction = 100;
    return lines.rows() * kOfRow + functions.functions() * kOfFunction;
  }
  const std::string& path(const char* file) {
    const auto [known, fresh] = paths_.try_emplace(file);
    if (fresh) known->second = source_path(directory_, file);
    return known->second;
  }
  DwarfLine lines;
  DwarfInline functions;

 private:
  std::string directory_;                               ///< of the compilation
  std::unordered_map<const char*, std::string> paths_;  ///< by what libdw calls a file
};

/// Declared in an included file, or the body is: then its lines cannot be counted from the declaration.
uint32_t start_line(IndexedUnit* unit, const SourceLine& start, const std::string& file) {
  return !file.empty() && unit->path(start.file) == file ? start.line : 0;
}

Frame frame_at(IndexedUnit* unit, const DwarfInline::Call& call, const SourceLine& place) {
  const std::string& file = unit->path(place.file);
  return {*call.function, file, place.line, *call.linkage, start_line(unit, call.start, file), call.copy};
}

/// The line table knows where the innermost function is; where each further one is, the call in it says. Not
/// `whole`: the real function alone, at the place of the innermost one.
std::vector<Frame> frames_at(IndexedUnit* unit, uint64_t address, bool whole) {
  const auto line = unit->lines.find(address);
  SourceLine place = line.value_or(SourceLine{});
  std::vector<Frame> frames;
  const std::vector<DwarfInline::Call> calls = unit->functions.calls(address);
  for (size_t i = whole || calls.empty() ? 0 : calls.size() - 1; i < calls.size(); i++) {
    frames.push_back(frame_at(unit, calls[i], place));
    place = calls[i].call;
  }
  if (frames.empty() && line) frames.push_back({{}, unit->path(place.file), place.line});
  return frames;
}

uint64_t bytes_of(const std::vector<Frame>& frames) {
  uint64_t bytes = frames.size() * sizeof(Frame);
  for (const Frame& frame : frames) bytes += frame.function.size() + frame.linkage.size() + frame.file.size();
  return bytes;
}

std::vector<CompilerFrame> compiler_frames_at(IndexedUnit* unit, uint64_t address) {
  SourceLine place = unit->lines.find(address).value_or(SourceLine{});
  std::vector<CompilerFrame> frames;
  for (const DwarfInline::Call& call : unit->functions.calls(address)) {
    const std::string& symbol = call.linkage->empty() ? *call.function : *call.linkage;
    frames.push_back({symbol, place.line, call.start.line, place.discriminator});
    place = call.call;
  }
  return frames;
}

class LibdwFrames : public DwarfFrames {
 public:
  LibdwFrames(std::unique_ptr<DwarfFile> dwarf, AddressRange text, uint64_t most_bytes,
              uint64_t most_frame_bytes)
      : dwarf_(std::move(dwarf)), text_(text), most_bytes_(most_bytes), most_frame_bytes_(most_frame_bytes) {}

  [[nodiscard]] const std::string& problem() const override {
    return problem_.empty() ? dwarf_->problem() : problem_;
  }

  std::vector<std::vector<Frame>> frames(std::span<const uint64_t> addresses) override {
    uint64_t bytes = 0;
    return of_each<std::vector<Frame>>(addresses, [this, &bytes](IndexedUnit* unit, uint64_t address) {
      const bool whole = bytes <= most_frame_bytes_;
      if (!whole) problem_ = "inlined functions have too long names together: some are missing";
      std::vector<Frame> frames = frames_at(unit, address, whole);
      bytes += bytes_of(frames);
      return frames;
    });
  }

  std::vector<std::vector<CompilerFrame>> compiler_frames(std::span<const uint64_t> addresses) override {
    return of_each<std::vector<CompilerFrame>>(addresses, compiler_frames_at);
  }

  SourceDigests digests(std::span<const uint64_t> addresses) override {
    std::set<uint32_t> units;
    for (const uint64_t address : addresses)
      if (auto unit = dwarf_->unit_at(address)) units.insert(*unit);
    SourceDigests digests;
    for (const uint32_t unit : units) digests.merge(source_digests(dwarf_->unit(unit)));
    return digests;
  }

 private:
  struct UnitAddresses {
    uint32_t unit;
    std::vector<size_t> indices;
  };

  /// What `read` finds in an address's unit, for each; empty where there is no unit.
  template <typename Frames, typename Read>
  std::vector<Frames> of_each(std::span<const uint64_t> addresses, Read&& read) {
    std::vector<Frames> result(addresses.size());
    for (const auto& [unit, indices] : by_unit(addresses))
      if (IndexedUnit* known = indexed(unit))
        for (const size_t i : indices) result[i] = read(known, addresses[i]);
    return result;
  }

  /// Each unit once, in the order of their first addresses: the last may well be the first of the next call.
  [[nodiscard]] std::vector<UnitAddresses> by_unit(std::span<const uint64_t> addresses) const {
    std::vector<UnitAddresses> units;
    std::unordered_map<uint32_t, size_t> places;
    for (size_t i = 0; i < addresses.size(); i++) {
      const auto unit = dwarf_->unit_at(addresses[i]);
      if (!unit) continue;
      const auto place = places.try_emplace(*unit, units.size()).first->second;
      if (place == units.size()) units.push_back({*unit, {}});
      units[place].indices.push_back(i);
    }
    return units;
  }

  /// Null if debug information cannot be read any more. REQUIRES: of by_unit(). Others may be forgotten.
  IndexedUnit* indexed(uint32_t index) {
    if (const auto known = units_.find(index); known != units_.end()) return known->second.get();
    if (bytes_ >= most_bytes_ && !forget_units()) return nullptr;
    if (!ever_read_.insert(index).second) most_bytes_ *= 2;
    auto unit = std::make_unique<IndexedUnit>(dwarf_->unit(index), text_, &names_);
    bytes_ += unit->bytes();
    return units_.emplace(index, std::move(unit)).first->second.get();
  }

  bool forget_units() {
    if (units_.empty()) return readable_;
    units_.clear();
    names_.forget();
    bytes_ = 0;
    return readable_ = dwarf_->renew();
  }

  std::unique_ptr<DwarfFile> dwarf_;
  AddressRange text_;
  uint64_t most_bytes_;
  const uint64_t most_frame_bytes_;
  uint64_t bytes_ = 0;  ///< of units_
  bool readable_ = true;
  std::string problem_;
  DwarfNames names_;  ///< of all units: parts of them are common (dwz, LTO)
  std::unordered_map<uint32_t, std::unique_ptr<IndexedUnit>> units_;
  std::unordered_set<uint32_t> ever_read_;
};

}  // namespace

Result<std::unique_ptr<DwarfFrames>> DwarfFrames::open(const ElfFile& file, uint64_t most_bytes,
                                                       uint64_t most_frame_bytes) {
  auto dwarf = DwarfFile::open(file);
  if (!dwarf) return std::unexpected(dwarf.error());
  return std::make_unique<LibdwFrames>(std::move(*dwarf), text_bounds(file), most_bytes, most_frame_bytes);
}

}  // namespace pctally
