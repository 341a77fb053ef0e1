// Source files that debug information names, read for showing their lines. Their names come from a file that
// somebody else may have made.
//
// Refuses what is no regular file, what is larger than 4 MiB, what is not text, and what the owner of
// the file that names it may not read, unless that is root or the caller: a program cannot make root
// show others' files.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/elf/md5.h"

namespace pctally {

/// "OLD=NEW": paths that begin with OLD are looked up at NEW.
struct SourcePath {
  std::string from, to;
};

/// Error: EINVAL if there is no '=', or nothing before it.
Result<SourcePath> parse_source_path(std::string_view text);

struct SourceFile {
  std::vector<std::string> lines;  ///< as they are: to be escaped
  std::string problem;             ///< why there are none; empty if there are
  uint64_t changed_unix_ns = 0;
  std::optional<Md5> md5{};  ///< of its bytes; nothing if it is kept or could not be read
  bool is_for_all = false;   ///< everybody may read it, or it is the caller's own, who is not root; or kept
};

/// Why a source that is not for all is not put into what may be given away.
inline constexpr char kNotForAll[] = "not everybody may read it";

/// Why a source that profiles hold is not shown: it would be another build's.
inline constexpr char kSourcesDiffer[] = "not kept: two texts of it differ";

/// Whether a source still is what a program was compiled from, as far as can be known.
enum class SourceChange {
  kNone,
  kNewer,    ///< changed after the program was; the compiler has written no MD5
  kDiffers,  ///< has another MD5
};

/// `digests`: what the program says of its sources. `built_unix_ns`: when the program was changed;
/// 0: not known.
SourceChange change_of(const SourceFile& source, const std::string& path, const SourceDigests& digests,
                       uint64_t built_unix_ns);

/// The text of a source that a profile holds.
struct KeptSource {
  std::string_view text;
  uint64_t changed_unix_ns = 0;
  bool differs = false;  ///< there are several texts, and none is kept
};
using KeptSources = std::function<std::optional<KeptSource>(const std::string& path)>;

using BuildId = std::vector<uint8_t>;

/// Who owns the file whose debug information names a source: as of Symbolizer::owner().
using Owner = std::optional<uid_t>;

/// Gets a source that is not here from elsewhere: where it then lies. `of`: the executable that names it;
/// empty if that is not known.
using FetchSource = std::function<Result<std::string>(const BuildId& of, const std::string& path)>;

class SourceFiles {
 public:
  /// The last of `paths` that fits is taken. A source that is `kept` is not searched on disk, unless one of
  /// `paths` fits. `owner` says who names a source that named_by() was not called for.
  explicit SourceFiles(std::vector<SourcePath> paths, KeptSources kept = {}, FetchSource fetch = {},
                       std::function<Owner()> owner = {})
      : paths_(std::move(paths)),
        kept_(std::move(kept)),
        fetch_(std::move(fetch)),
        owner_(std::move(owner)) {}

  /// The executable with this build id, whose names are a file of `owner`, names `path`: to be known before
  /// file(). Where several name it, one that may do so is enough.
  void named_by(Owner owner, const BuildId& executable, const std::string& path);
  /// The file at a path of debug information. Read once, or again if another has named it since. What was
  /// fetched is for all. Valid until named_by().
  const SourceFile& file(const std::string& path);
  /// The line, tabs as blanks; empty if it is not there.
  std::string line(const std::string& path, uint32_t number);
  [[nodiscard]] std::string mapped(const std::string& path) const;

 private:
  [[nodiscard]] SourceFile read(const std::string& path) const;
  [[nodiscard]] SourceFile fetch(const std::string& path) const;
  [[nodiscard]] std::vector<Owner> owners_of(const std::string& path) const;

  std::vector<SourcePath> paths_;
  KeptSources kept_;
  FetchSource fetch_;
  std::function<Owner()> owner_;
  std::map<std::string, std::vector<Owner>> owners_;  ///< of those that name a source
  std::map<std::string, BuildId> executables_;        ///< that name a source
  std::map<std::string, SourceFile> files_;
};

}  // namespace pctally
