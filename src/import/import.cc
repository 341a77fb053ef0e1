#include <errno.h>

#include "import/formats.h"

namespace pctally {
namespace {

std::optional<Result<Profile>> import_plain(ImportedBytes bytes, const std::string& name,
                                            ImportedNames* names, const std::string& kind) {
  if (is_gperftools(bytes)) return import_gperftools(bytes, name, names);
  if (is_perf_script(text_of(bytes))) return import_perf_script(text_of(bytes), name, names);
  if (is_folded(text_of(bytes))) return import_folded(text_of(bytes), name, names);
  if (is_pprof(bytes)) return import_pprof(bytes, name, names, kind);
  return std::nullopt;
}

}  // namespace

std::optional<Result<Profile>> import_profile(ImportedBytes bytes, const std::string& name,
                                              ImportedNames* names, const std::string& kind) {
  if (!is_gzip(bytes)) return import_plain(bytes, name, names, kind);
  const auto plain = gunzip(bytes);
  if (!plain) return std::unexpected(plain.error());
  return import_plain(*plain, name, names, kind);
}

}  // namespace pctally
