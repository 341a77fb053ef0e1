#include "object/dwarf/dwarf_frames.h"

#include <set>
#include <unordered_map>

#include "object/dwarf/dwarf_digests.h"
#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_inline.h"
#include "object/dwarf/dwarf_line.h"

namespace pctally {
namespace {

/// What is known of a unit with hits; units without are never read.
struct IndexedUnit {
  IndexedUnit(const DwarfFile::Unit& unit, AddressRange text)
      : lines(unit.die), functions(unit.inner, text) {}
  DwarfLine lines;
  DwarfInline functions;
};

Frame frame_at(const std::string& function, const std::string& linkage, const SourceLine& place) {
  return {function, place.file == nullptr ? std::string() : std::string(place.file), place.line, linkage};
}

/// The line table knows where the innermost function is; where each further one is, the call in it says.
std::vector<Frame> frames_at(IndexedUnit* unit, uint64_t address) {
  const auto line = unit->lines.find(address);
  SourceLine place = line.value_or(SourceLine{});
  std::vector<Frame> frames;
  for (const DwarfInline::Call& call : unit->functions.calls(address)) {
    frames.push_back(frame_at(*call.function, *call.linkage, place));
    place = call.call;
  }
  if (frames.empty() && line) frames.push_back(frame_at({}, {}, place));
  return frames;
}

std::vector<CompilerFrame> compiler_frames_at(IndexedUnit* unit, uint64_t address) {
  SourceLine place = unit->lines.find(address).value_or(SourceLine{});
  std::vector<CompilerFrame> frames;
  for (const DwarfInline::Call& call : unit->functions.calls(address)) {
    const std::string& symbol = call.linkage->empty() ? *call.function : *call.linkage;
    frames.push_back({symbol, place.line, call.start_line, place.discriminator});
    place = call.call;
  }
  return frames;
}

class LibdwFrames : public DwarfFrames {
 public:
  LibdwFrames(std::unique_ptr<DwarfFile> dwarf, AddressRange text) : dwarf_(std::move(dwarf)), text_(text) {}

  std::vector<std::vector<Frame>> frames(std::span<const uint64_t> addresses) override {
    std::vector<std::vector<Frame>> result(addresses.size());
    for (size_t i = 0; i < addresses.size(); i++) {
      if (auto unit = dwarf_->unit_at(addresses[i])) result[i] = frames_at(&indexed(*unit), addresses[i]);
    }
    return result;
  }

  std::vector<std::vector<CompilerFrame>> compiler_frames(std::span<const uint64_t> addresses) override {
    std::vector<std::vector<CompilerFrame>> result(addresses.size());
    for (size_t i = 0; i < addresses.size(); i++) {
      if (auto unit = dwarf_->unit_at(addresses[i]))
        result[i] = compiler_frames_at(&indexed(*unit), addresses[i]);
    }
    return result;
  }

  SourceDigests digests(std::span<const uint64_t> addresses) override {
    std::set<uint32_t> units;
    for (const uint64_t address : addresses)
      if (auto unit = dwarf_->unit_at(address)) units.insert(*unit);
    SourceDigests digests;
    for (const uint32_t unit : units) {
      Dwarf_Die die = dwarf_->unit(unit).die;
      digests.merge(source_digests(&die));
    }
    return digests;
  }

 private:
  IndexedUnit& indexed(uint32_t index) {
    auto& unit = units_[index];
    if (!unit) unit = std::make_unique<IndexedUnit>(dwarf_->unit(index), text_);
    return *unit;
  }

  std::unique_ptr<DwarfFile> dwarf_;
  AddressRange text_;
  std::unordered_map<uint32_t, std::unique_ptr<IndexedUnit>> units_;
};

}  // namespace

Result<std::unique_ptr<DwarfFrames>> DwarfFrames::open(const ElfFile& file) {
  auto dwarf = DwarfFile::open(file);
  if (!dwarf) return std::unexpected(dwarf.error());
  return std::make_unique<LibdwFrames>(std::move(*dwarf), text_bounds(file));
}

}  // namespace pctally
