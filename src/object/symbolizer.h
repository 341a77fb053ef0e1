// From a position in an executable to names a person reads. The one entry of this folder for report/.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pctally {

/// What is to be named: mirrors one Executable of a profile, without depending on profile/.
struct ExecutableIdentity {
  enum class Kind { kFile, kVdso, kKernel, kPrivate, kStart };
  Kind kind = Kind::kFile;
  std::string path;
  std::vector<uint8_t> build_id;
  int32_t owner = 0;             ///< pid, kPrivate only: names come from its perf map
  std::vector<uint8_t> boot_id;  ///< kKernel: names only if this is still the same boot
};

/// One source-level frame at a position: innermost first when a function was inlined.
struct Frame {
  std::string function;  ///< demangled
  std::string file;      ///< empty if unknown
  uint32_t line = 0;     ///< 0 if unknown
};

/// The named range a position lies in. Text nobody has a name for gets "[object+0xSTART]", START being an
/// ObjectAddress: never a neighbour's name. The range of a function is the whole function, so that its start
/// tells it from another of the same name; where symbols overlap, ranges do.
struct NamedRange {
  std::string function;  ///< demangled symbol, "name@plt", "[object+0x...]"; "[object]" if nothing is known
  uint64_t start = 0;    ///< of the range, in the unit the positions are in
  uint64_t end = 0;
};

/// Names for positions of one executable. Opening never fails: what cannot be read leaves its range unnamed,
/// and problem() says why. Nothing here throws. One thread at a time.
class Symbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity);
  virtual ~Symbolizer() = default;

  /// Name to show for the object: the file's base name, "[vdso]", "[kernel]", "[jit]".
  [[nodiscard]] virtual const std::string& object_name() const = 0;

  /// One result per position (ascending positions), resolved range by range.
  virtual std::vector<NamedRange> name(std::span<const uint64_t> positions) = 0;

  /// Source frames for each position (ascending), innermost inline frame first, the last one the real
  /// function. Empty where there is no line information.
  virtual std::vector<std::vector<Frame>> frames(std::span<const uint64_t> positions) = 0;

  /// Why names are missing ("build id differs: the file was replaced since the recording"), or empty.
  /// name() and frames() may add a reason: what they need is read when they need it.
  [[nodiscard]] virtual const std::string& problem() const = 0;
};

}  // namespace pctally
