// The profiles named on a command line.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "names/kept_names.h"
#include "object/symbolizer.h"
#include "profile/merge.h"
#include "profile/profile.h"
#include "profile/recordings.h"
#include "report/annotate/source_files.h"

namespace pctally {

/// Whether `word` names a profile of pctally, where it stands in place of another word.
bool is_file_of_profile(const std::string& word);

/// Whether what is written may not replace the file: it is a profile of pctally, or load_any() has read it.
bool is_source_of_profiles(const std::string& path);

/// The profile in a file, or on standard input ("-", up to 1 GiB): pctally's own, or one of another tool
/// (src/import), whose names are then kept for open_symbolizer(). Errors name the file.
Result<Profile> load_any(const std::string& file);

/// The kind of values that load_any() reads of pprof files; empty: the usual one. Other files are refused
/// where it is not: they have one kind.
std::string& wanted_values();

/// Keeps the names that a file of ours holds, for open_symbolizer(). If they cannot be read, that is added to
/// the damage of `profile`, which is of that file.
void keep_names(int fd, Profile* profile);

/// The damage of a profile whose names cannot be read, in words.
std::string damaged_names(const Error& error);

/// Names for what load_any() has loaded: those that came with the files first, then those of the executables,
/// then those of servers, if they are to be asked.
std::unique_ptr<Symbolizer> open_symbolizer(const ExecutableIdentity& identity);

/// All names that came with the files loaded.
const KeptNames& kept_names();

/// A source that came with a file, by the path that frames have.
std::optional<KeptSource> kept_source(const std::string& path);

/// Whether an executable has its names in an imported file alone.
bool is_imported(const Executable& executable);

/// Whether any of its executables is_imported(). What an imported file calls a source file is only a name: no
/// page holds its text.
bool has_imported(const Profile& profile);

/// Whether another tool has written the profile. Those of gperftools have addresses, as ours have.
bool is_of_another_tool(const Profile& profile);

/// Files that are read, each once: for an import without a time, the same file is the same run.
class SeparateFiles {
 public:
  /// Error: EINVAL if it is one of before, with what to do about it.
  Result<void> add(const std::string& file);

 private:
  std::map<std::pair<uint64_t, uint64_t>, std::string> files_;  ///< by device and inode
};

/// Loads files that are compared: each recording may be among them once.
class SeparateRuns {
 public:
  /// Appends a profile for each file, in order. False if one cannot be read, or is of a recording that was
  /// loaded before; a line says which and why.
  bool load(const std::vector<std::string>& files, std::vector<Profile>* profiles);

 private:
  Recordings recordings_;
  SeparateFiles files_;
};

struct SumOptions {
  uint64_t most_bytes = kUsualMergeBytes;  ///< of memory
  const char* remedy = kUsualMergeRemedy;  ///< where they are too few
  bool paths = true;                       ///< false: call paths are left out
};

/// The sum of all files, which is a merged profile also where there is one file alone. Files that are
/// incomplete or damaged are named in a line; what is wrong with them is in the sum's `damage`, too.
Result<Profile> load_sum(const std::vector<std::string>& files, const SumOptions& options = {});

/// One file as it is, several as their sum.
Result<Profile> load_as_one(const std::vector<std::string>& files);

/// A line if the profile of `file` is damaged, and so is what comes of it. load_sum() names the files
/// of a sum.
void name_damage(const Profile& profile, const std::string& file);

/// `code`; of a damaged profile never 0.
int exit_code_of(const Profile& profile, int code);

}  // namespace pctally
