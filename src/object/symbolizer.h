// From a position in an executable to names a person reads. The one entry of this folder for report/.
#pragma once
#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "object/elf/frame.h"
#include "object/elf/md5.h"

namespace pctally {

/// The identity of an executable that is to be named: as in one Executable of a profile, without needing
/// profile/.
struct ExecutableIdentity {
  enum class Kind { kFile, kVdso, kKernel, kPrivate, kStart };
  Kind kind = Kind::kFile;
  std::string path{};
  std::vector<uint8_t> build_id{};
  int32_t owner = 0;               ///< pid, kPrivate only: names come from its perf map
  std::vector<uint8_t> boot_id{};  ///< where addresses are of one boot; kKernel, kVdso without a build id:
                                   ///< names only if it still is
  uint64_t device = 0;             ///< kFile without a build id: which file it was; 0: not known
  uint64_t inode = 0;
  uint64_t file_bytes = 0;    ///< kFile without a build id: its size; 0: not known
  uint64_t time_unix_ns = 0;  ///< the same: when it was last changed; kPrivate: when the process started
  auto operator<=>(const ExecutableIdentity&) const = default;
};

/// Name to show for the object, whether it can be read or not: the file's base name,
/// "[vdso]", "[kernel]", "[jit]".
std::string object_name_of(const ExecutableIdentity& identity);

/// The end that the kernel gives to the name of a mapped file that is no more.
inline constexpr std::string_view kDeleted = " (deleted)";

/// The object of functions for which another tool's profile names none. It is the same for all files, so that
/// a comparison finds a function in both.
inline constexpr char kNoObject[] = "(no object)";

/// The recorder knew no object, only why: the path is "[reason]".
bool is_unknown_object(const ExecutableIdentity& identity);

/// Names for positions of one executable. Opening never fails: what cannot be read leaves its range unnamed,
/// and problem() says why. Nothing here throws. One thread at a time.
class Symbolizer {
 public:
  static constexpr size_t kFramesAtATime = 1 << 8;  ///< few enough that their names stay in the cache

  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity);
  virtual ~Symbolizer() = default;

  /// As of object_name_of().
  [[nodiscard]] virtual const std::string& object_name() const = 0;

  /// One result per position (ascending positions), resolved range by range.
  std::vector<NamedRange> name(std::span<const uint64_t> positions) {
    std::vector<NamedRange> ranges = find_names(positions);
    ranges.resize(positions.size());
    return ranges;
  }

  /// Source frames for each position (ascending), innermost inline frame first, the last one the real
  /// function. Empty where there is no line information. A chain of inlined functions takes kilobytes: of
  /// many positions ask for kFramesAtATime.
  std::vector<std::vector<Frame>> frames(std::span<const uint64_t> positions) {
    std::vector<std::vector<Frame>> frames = find_frames(positions);
    frames.resize(positions.size());
    return frames;
  }

  /// The code at positions [start, end), cut to what is loaded from the file in one piece. No bytes if the
  /// file is not there, or if they are more than 4 MiB: few functions are that large.
  virtual CodeBytes code(uint64_t /*start*/, uint64_t /*end*/) { return {}; }

  /// Whether text may have names besides those in the executable itself: of a debug file, or of code that is
  /// made meanwhile.
  [[nodiscard]] virtual bool has_other_names() { return true; }

  /// All symbols of the functions that start at these positions (ascending). name() chooses one of them.
  std::vector<std::vector<SymbolName>> aliases(std::span<const uint64_t> starts) {
    std::vector<std::vector<SymbolName>> aliases = find_aliases(starts);
    aliases.resize(starts.size());
    return aliases;
  }

  /// What the sources of the units at these positions (ascending) were when they were compiled, as far as
  /// debug information says it.
  virtual SourceDigests digests(std::span<const uint64_t> /*positions*/) { return {}; }

  /// The user who owns the file that the frames come from which frames() has given so far. Nothing if that is
  /// not known, or several users may have written it.
  [[nodiscard]] virtual std::optional<uid_t> owner() const { return {}; }

  /// Whether some of these frames were in a profile. Its owner may have got it from somebody who wants to
  /// have the sources that it names: owner() then says who may be shown them, not what may be given away.
  [[nodiscard]] virtual bool is_from_profile() const { return false; }

  /// Who names sources that may be given away: as of owner(); nobody in particular where a profile does.
  [[nodiscard]] std::optional<uid_t> owner_to_share() const {
    return is_from_profile() ? std::nullopt : owner();
  }

  /// The position of an ObjectAddress; nothing if nothing is loaded there, or positions are addresses.
  virtual std::optional<uint64_t> position(uint64_t /*address*/) { return {}; }

  /// Why names are missing ("build id differs: the file was replaced since, or unmapped while it was read"),
  /// or empty. name() may add a reason: what it needs is read when it needs it.
  [[nodiscard]] virtual const std::string& problem() const = 0;

  /// Why code() had no bytes, or empty.
  [[nodiscard]] virtual const std::string& code_problem() const { return problem(); }

  /// Why lines are missing where names need not be ("no line information"), or empty. frames() may
  /// add a reason.
  [[nodiscard]] virtual const std::string& line_problem() const {
    static const std::string none;
    return none;
  }

 protected:
  /// name(), frames() and aliases() as the file answers them: missing answers at the end are empty ones.
  virtual std::vector<NamedRange> find_names(std::span<const uint64_t> positions) = 0;
  virtual std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) = 0;
  virtual std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> /*starts*/) {
    return {};
  }
};

}  // namespace pctally
