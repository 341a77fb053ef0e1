#include "report/annotate/source_files.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file/read_all.h"
#include "base/time_ns.h"
#include "object/elf/regular_file.h"

namespace pctally {
namespace {

constexpr size_t kLargest = 4 << 20;
constexpr size_t kTab = 8;
constexpr char kNotFound[] = "not found";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Whether everybody can come to a file: one that all may read may lie in a directory that is closed to them.
bool is_reachable(int fd) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  if (error || !path.is_absolute()) return false;
  struct stat status;
  while (path.has_relative_path()) {
    path = path.parent_path();
    if (stat(path.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

/// Whether a file that one of `owners` has made may name this one. The caller could open it.
bool may_name(const std::vector<Owner>& owners, int fd, const struct stat& source) {
  const uid_t caller = geteuid();
  for (const Owner& owner : owners)
    if (owner && (*owner == 0 || *owner == caller || *owner == source.st_uid)) return true;
  return (source.st_mode & S_IROTH) != 0 && is_reachable(fd);
}

SourceFile read_source(const std::string& path, const std::vector<Owner>& owners) {
  SourceFile file;
  struct stat status;
  auto fd = open_regular(path, &status);
  if (!fd) {
    file.problem = fd.error().code == ENOENT ? kNotFound : fd.error().text;
    return file;
  }
  if (!may_name(owners, fd->get(), status)) {
    const bool known = std::ranges::any_of(owners, &Owner::has_value);
    file.problem = known ? "the owner of the program that names it may not read it" : kNotForAll;
    return file;
  }
  std::string bytes;
  const bool is_whole = read_to_end(fd->get(), kLargest, &bytes);
  if (!is_whole && errno == EFBIG) {
    file.problem = "larger than 4 MiB";
    return file;
  }
  if (!is_whole)
    file.problem = "cannot be read";
  else if (bytes.find('\0') != std::string::npos)
    file.problem = "not a text file";
  else
    file.lines = lines_of(bytes);
  if (file.problem.empty())
    file.md5 = md5_of({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
  file.changed_unix_ns = to_ns(status.st_mtim);
  const bool own = geteuid() != 0 && status.st_uid == geteuid();
  file.is_for_all = (status.st_mode & S_IROTH) != 0 || own;
  return file;
}

}  // namespace

Result<SourcePath> parse_source_path(std::string_view text) {
  size_t sign = text.find('=');
  if (sign == std::string_view::npos || sign == 0) return fail(EINVAL, "not OLD=NEW");
  return SourcePath{std::string(text.substr(0, sign)), std::string(text.substr(sign + 1))};
}

SourceChange change_of(const SourceFile& source, const std::string& path, const SourceDigests& digests,
                       uint64_t built_unix_ns) {
  if (!source.problem.empty()) return SourceChange::kNone;
  bool proven = false;
  if (source.md5)
    for (auto digest = digests.lower_bound({path, Md5{}}); digest != digests.end() && digest->first == path;
         ++digest) {
      if (digest->second != *source.md5) return SourceChange::kDiffers;
      proven = true;
    }
  const bool newer = built_unix_ns != 0 && source.changed_unix_ns > built_unix_ns;
  return newer && !proven ? SourceChange::kNewer : SourceChange::kNone;
}

std::string SourceFiles::mapped(const std::string& path) const {
  for (auto mapping = paths_.rbegin(); mapping != paths_.rend(); ++mapping)
    if (path.starts_with(mapping->from)) return mapping->to + path.substr(mapping->from.size());
  return path;
}

const SourceFile& SourceFiles::file(const std::string& path) {
  auto found = files_.find(path);
  if (found == files_.end()) found = files_.emplace(path, read(path)).first;
  return found->second;
}

/// A relative name is no file of the directory that the reader happens to be in.
SourceFile SourceFiles::read(const std::string& path) const {
  const std::string place = mapped(path);
  const auto kept = place == path && kept_ ? kept_(path) : std::nullopt;
  if (kept && kept->differs) return {.lines = {}, .problem = kSourcesDiffer};
  if (kept)
    return {.lines = lines_of(kept->text),
            .problem = "",
            .changed_unix_ns = kept->changed_unix_ns,
            .md5 = {},
            .is_for_all = true};
  if (place == path && !path.starts_with('/')) return {.lines = {}, .problem = kNotFound};
  SourceFile file = read_source(place, owners_of(path));
  return file.problem == kNotFound && fetch_ ? fetch(path) : file;
}

SourceFile SourceFiles::fetch(const std::string& path) const {
  const auto executable = executables_.find(path);
  const auto fetched = fetch_(executable == executables_.end() ? BuildId() : executable->second, path);
  if (!fetched) return {.lines = {}, .problem = kNotFound};
  SourceFile file = read_source(*fetched, {geteuid()});
  file.changed_unix_ns = 0;  // when it was fetched says nothing,
  file.is_for_all = true;    // and a server gives it to whoever asks
  return file;
}

std::vector<Owner> SourceFiles::owners_of(const std::string& path) const {
  const auto named = owners_.find(path);
  if (named != owners_.end()) return named->second;
  return owner_ ? std::vector{owner_()} : std::vector<Owner>{};
}

void SourceFiles::named_by(Owner owner, const BuildId& executable, const std::string& path) {
  std::vector<Owner>& owners = owners_[path];
  if (std::ranges::find(owners, owner) == owners.end()) {
    owners.push_back(owner);
    files_.erase(path);
  }
  if (fetch_ && !executable.empty()) executables_.try_emplace(path, executable);
}

std::string SourceFiles::line(const std::string& path, uint32_t number) {
  const SourceFile& source = file(path);
  if (number == 0 || number > source.lines.size()) return "";
  std::string text;
  for (char byte : source.lines[number - 1])
    if (byte == '\t')
      text.append(kTab - text.size() % kTab, ' ');
    else
      text += byte;
  return text;
}

}  // namespace pctally
