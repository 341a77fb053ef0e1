#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/kernel/device_number.h"
#include "base/time_ns.h"
#include "object/object_symbolizer.h"

namespace pctally {
namespace {

constexpr char kAnother[] =
    "not the file that ran: another device, inode, size or time of change (it has no build id)";
constexpr char kReplaced[] = "build id differs: the file was replaced since, or unmapped while it was read";

bool is_a_file(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/memfd:");
}

bool has_id(const ElfFile& file, const std::vector<uint8_t>& id) {
  return std::ranges::equal(file.build_id(), id);
}

/// Without a build id: by all that the recorder knew of it.
bool is_same(const struct stat& status, const ExecutableIdentity& identity) {
  if (identity.inode == 0) return true;
  const uint64_t device = device_number(status.st_dev);
  if (status.st_ino != identity.inode || device != identity.device) return false;
  if (identity.time_unix_ns == 0) return true;
  const uint64_t changed = to_ns(status.st_mtim);
  return static_cast<uint64_t>(status.st_size) == identity.file_bytes && changed == identity.time_unix_ns;
}

struct Opened {
  std::unique_ptr<ElfFile> file;
  std::string problem;
  bool forbidden = false;
};

/// "/proc/N/root/..." ends with the process.
std::string why_unreadable(const std::string& path, const Error& error) {
  const size_t root = path.find("/root/");
  if (error.code == EACCES && geteuid() == 0)
    return error.text + std::string(" (FUSE without allow_other, or NFS, refuses even root)");
  const bool of_process = path.starts_with("/proc/") && root == path.find_first_not_of("0123456789", 6);
  if (!of_process || error.code != ENOENT) return error.text;
  return path.substr(root + 5) + " was in the container or root directory of process " +
         path.substr(6, root - 6) + ", which has ended";
}

/// The file as it was recorded. One that was deleted since may be there again: then its build id has
/// to prove it.
Opened open_recorded(const ExecutableIdentity& identity, Trust trust) {
  const bool is_bare = !identity.path.empty() && identity.path.find_first_of("/[") != 0;
  if (is_bare) return {nullptr, "its directory is not in the profile"};
  if (!is_a_file(identity.path)) return {nullptr, "not a file on disk: it has no names"};
  std::string path = identity.path;
  const bool deleted = path.ends_with(kDeleted);
  if (deleted) path.resize(path.size() - kDeleted.size());
  auto file = ElfFile::open(path, trust);
  if (!file && file.error().code == kOtherUsersFile && trust != Trust::kAnybody) return {nullptr, {}, true};
  if (deleted && (!file || identity.build_id.empty() || !has_id(*file, identity.build_id))) {
    return {nullptr, "the file was deleted while it was running"};
  }
  if (!file) return {nullptr, why_unreadable(path, file.error())};
  if (!identity.build_id.empty() && !has_id(*file, identity.build_id)) return {nullptr, kReplaced};
  if (identity.build_id.empty() && !is_same(file->status(), identity)) return {nullptr, kAnother};
  return {std::make_unique<ElfFile>(std::move(*file)), {}};
}

}  // namespace

std::unique_ptr<Symbolizer> open_executable(const ExecutableIdentity& identity, Trust trust,
                                            const std::string& fetched) {
  Opened opened = open_recorded(identity, trust);
  if (opened.forbidden) return nullptr;
  const DebugFinder finder("/usr/lib/debug", trust, fetched);
  if (!opened.file) {
    auto debug = finder.find(identity.build_id);
    if (debug && debug->restore_layout()) opened.file = std::move(debug);
  }
  const std::string name = object_name_of(identity);
  return std::make_unique<ObjectSymbolizer>(name, name, std::move(opened.file), opened.problem, finder);
}

}  // namespace pctally
