// Profiles of other tools. No reader trusts its bytes; a unit it does not know is an error.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/imported_names.h"
#include "profile/profile.h"

namespace pctally {

/// Limit for a file, and for what is compressed in it.
inline constexpr uint64_t kMostImportedBytes = uint64_t{1} << 30;

using ImportedBytes = std::span<const unsigned char>;

inline std::string_view text_of(ImportedBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A profile in one of the formats below, compressed by gzip or not, recognised by its content. `name` is
/// what it is called where it does not say. Nothing if it is in none of them. `kind`: of values that a file
/// must have; empty: the usual ones.
std::optional<Result<Profile>> import_profile(ImportedBytes bytes, const std::string& name,
                                              ImportedNames* names, const std::string& kind = "");

bool is_gzip(ImportedBytes bytes);
/// Fails where there are more than `most_bytes` in it.
Result<std::vector<unsigned char>> gunzip(ImportedBytes bytes, uint64_t most_bytes = kMostImportedBytes);

/// profile.proto of google/pprof.
bool is_pprof(ImportedBytes bytes);
Result<Profile> import_pprof(ImportedBytes bytes, const std::string& name, ImportedNames* names,
                             const std::string& kind = "");

/// CPU profiles of gperftools, of both word sizes and byte orders, with names in front of them or not.
bool is_gperftools(ImportedBytes bytes);
Result<Profile> import_gperftools(ImportedBytes bytes, const std::string& name, ImportedNames* names);

/// The text that `perf script` prints.
bool is_perf_script(std::string_view text);
Result<Profile> import_perf_script(std::string_view text, const std::string& name, ImportedNames* names);

/// "outermost;...;innermost COUNT" lines: what flamegraph.pl reads.
bool is_folded(std::string_view text);
Result<Profile> import_folded(std::string_view text, const std::string& name, ImportedNames* names);

}  // namespace pctally
