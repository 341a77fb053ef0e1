#include "object/compiler_places.h"

#include <errno.h>

#include <algorithm>

#include "object/dwarf/debug_finder.h"
#include "object/dwarf/debug_sections.h"
#include "object/dwarf/dwarf_frames.h"

namespace pctally {
namespace {

/// Keeps what the frames are read from.
class FilePlaces : public CompilerPlaces {
 public:
  FilePlaces(std::unique_ptr<ElfFile> file, std::unique_ptr<DwarfFrames> frames)
      : file_(std::move(file)), frames_(std::move(frames)) {}

  std::vector<std::vector<CompilerFrame>> frames(std::span<const uint64_t> addresses) override {
    return frames_->compiler_frames(addresses);
  }

 private:
  std::unique_ptr<ElfFile> file_;
  std::unique_ptr<DwarfFrames> frames_;
};

}  // namespace

Result<std::unique_ptr<CompilerPlaces>> CompilerPlaces::open(const std::string& path,
                                                             const std::vector<uint8_t>& build_id) {
  Result<ElfFile> opened = ElfFile::open(path, Trust::kRootOrOurselves);
  if (!opened) return std::unexpected(opened.error());
  if (!build_id.empty() && !std::ranges::equal(opened->build_id(), build_id))
    return fail(EINVAL, "%s has been rebuilt since it was profiled", path.c_str());
  auto file = std::make_unique<ElfFile>(std::move(*opened));
  if (!has_line_information(*file)) file = DebugFinder().find(*file);
  if (file == nullptr || !has_line_information(*file))
    return fail(ENOENT, "%s has no line information; compile it with -g -fdebug-info-for-profiling",
                path.c_str());
  auto frames = DwarfFrames::open(*file);
  if (!frames) return std::unexpected(frames.error());
  return std::make_unique<FilePlaces>(std::move(file), std::move(*frames));
}

}  // namespace pctally
