// Source frames from debug information. The one way from the rest of this folder to libdw: nothing of libdw
// is needed to include or to hold it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "object/elf/compiler_frame.h"
#include "object/elf/elf_file.h"
#include "object/elf/frame.h"
#include "object/elf/md5.h"

namespace pctally {

class DwarfFrames {
 public:
  /// Limit for what was read of units, in memory.
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  /// frames() returns about as much, and one chain more. In real files it is a tenth of this.
  static constexpr uint64_t kMostFrameBytes = uint64_t{512} << 20;

  /// `file` is the one with the debug sections, and must outlive the result. It keeps about `most_bytes` of
  /// what it has read; more where addresses come back to units that it has forgotten.
  static Result<std::unique_ptr<DwarfFrames>> open(const ElfFile& file, uint64_t most_bytes = kMostBytes,
                                                   uint64_t most_frame_bytes = kMostFrameBytes);
  virtual ~DwarfFrames() = default;

  /// What was missing of the debug information for what was asked; empty if nothing was.
  [[nodiscard]] virtual const std::string& problem() const = 0;

  /// Frames per ObjectAddress, innermost first, as of Symbolizer::frames(). A function's name is empty where
  /// debug information has the line and not the function. Where they are too large together, the later ones
  /// are without inlined functions, and problem() says so.
  virtual std::vector<std::vector<Frame>> frames(std::span<const uint64_t> addresses) = 0;

  /// The same as compilers number them. Empty where debug information has not the function.
  virtual std::vector<std::vector<CompilerFrame>> compiler_frames(std::span<const uint64_t> addresses) = 0;

  /// As of Symbolizer::digests().
  virtual SourceDigests digests(std::span<const uint64_t> addresses) = 0;
};

}  // namespace pctally
