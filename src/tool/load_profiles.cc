#include "tool/load_profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/base_name.h"
#include "base/file/read_all.h"
#include "base/file/write_all.h"
#include "base/unique_fd.h"
#include "histfile/file_identity.h"
#include "histread/names_bytes.h"
#include "import/formats.h"
#include "names/kept_names.h"
#include "profile/load.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/counted_symbolizer.h"
#include "tool/debuginfod_option.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

/// Prints, and adds to `damage`, what is wrong with a file that is added to others.
void name_faults(const std::string& file, const Profile& profile, std::vector<std::string>* damage) {
  if (!profile.damage.empty())
    complain("{} is damaged: {}; the sum is incomplete", file, profile.damage.front());
  for (const std::string& text : profile.damage) damage->push_back(fmt::format("{}: {}", file, text));
  if (profile.closed) return;
  warn("{} {}; what it has so far is added", file,
       profile.recorder_alive ? "is still being recorded" : "is incomplete: its recorder was killed");
}

uint64_t size_of(const std::string& file) {
  struct stat status;
  return stat(file.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

/// Names are of all profiles that this command has read.
ImportedNames& imported_names() {
  static ImportedNames names;
  return names;
}

KeptNames& all_kept_names() {
  static KeptNames names;
  return names;
}

/// A file of ours, with its names. `file`: what it is called in messages.
Result<Profile> load_with_names(int fd, const std::string& path, const std::string& file) {
  Result<Profile> profile = load_profile(path.c_str());
  if (profile) keep_names(fd, &*profile);
  if (profile || path == file || !std::string_view(profile.error().text).starts_with(path)) return profile;
  return fail(profile.error().code, "%s%s", file.c_str(), profile.error().text + path.size());
}

Result<void> add_names(int fd) {
  auto bytes = read_names_bytes(fd);
  if (!bytes) return std::unexpected(bytes.error());
  if (bytes->empty()) return {};
  struct stat status;
  const bool known = fstat(fd, &status) == 0;
  return all_kept_names().add(std::move(*bytes), known ? std::optional(status.st_uid) : std::nullopt);
}

Result<std::vector<unsigned char>> read_whole(int fd, const std::string& file) {
  std::vector<unsigned char> bytes;
  if (read_to_end(fd, kMostImportedBytes, &bytes)) return bytes;
  if (errno == EFBIG)
    return fail(EFBIG, "%s is larger than the 1 GiB that is read of another tool's profile", file.c_str());
  return fail(errno, "cannot read %s: %s", file.c_str(), strerror(errno));
}

/// Why a file is none of those that are read here, and what reads it.
std::unexpected<Error> no_known_profile(const std::vector<unsigned char>& bytes, const std::string& file) {
  constexpr std::string_view kPerfData = "PERFILE2", kGmonOut = "gmon";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.empty()) return fail(EINVAL, "%s is empty: no profile", file.c_str());
  if (text.starts_with(kPerfData))
    return fail(EINVAL, "%s is a perf.data; pctally reads its text: perf script -i %s >perf.txt",
                file.c_str(), file.c_str());
  if (text.starts_with(kGmonOut))
    return fail(EINVAL, "%s is a gmon.out; pctally prof reads it: pctally prof -m %s PROGRAM", file.c_str(),
                file.c_str());
  return fail(EINVAL, "%s is no profile of pctally, pprof, gperftools or perf script, and no folded stacks",
              file.c_str());
}

std::unexpected<Error> no_choice_of_values(const std::string& file) {
  return fail(EINVAL, "%s has one kind of values; --sample-index is for files of pprof", file.c_str());
}

/// The files that were read, by device and inode.
std::set<std::pair<uint64_t, uint64_t>>& files_read() {
  static std::set<std::pair<uint64_t, uint64_t>> files;
  return files;
}

/// What comes on standard input, as a file in memory: profiles are not read in order. Once, however often it
/// is named.
Result<std::string> copy_of_standard_input() {
  static std::string path;
  if (!path.empty()) return path;
  std::vector<unsigned char> bytes;
  if (!read_to_end(STDIN_FILENO, kMostImportedBytes, &bytes))
    return fail(errno, "cannot read a profile from standard input: %s", strerror(errno));
  UniqueFd copy(memfd_create("pctally-input", MFD_CLOEXEC));
  if (!copy.valid() || !write_all(copy.get(), bytes.data(), bytes.size()))
    return fail(errno, "no memory for the profile on standard input: %s; write it to a file first",
                strerror(errno));
  return path = fmt::format("/proc/self/fd/{}", copy.release());
}

/// `file`: what it is called in messages.
Result<Profile> load_ours_or_imported(const std::string& path, const std::string& file) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  const bool regular = fd.valid() && fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) return load_profile(path.c_str());
  files_read().emplace(status.st_dev, status.st_ino);
  const bool is_ours = is_profile(fd.get());
  if (is_ours && wanted_values().empty()) return load_with_names(fd.get(), path, file);
  if (is_ours) return no_choice_of_values(file);
  const auto bytes = read_whole(fd.get(), file);
  if (!bytes) return std::unexpected(bytes.error());
  const std::string name(base_name(file));
  std::optional<Result<Profile>> profile = import_profile(*bytes, name, &imported_names(), wanted_values());
  if (!profile) return no_known_profile(*bytes, file);
  if (!*profile) return fail(profile->error().code, "%s: %s", file.c_str(), profile->error().text);
  if (!wanted_values().empty() && (*profile)->engine != "pprof") return no_choice_of_values(file);
  return std::move(*profile);
}

Result<Profile> load_file_or_input(const std::string& file) {
  if (file != "-") return load_ours_or_imported(file, file);
  const Result<std::string> copy = copy_of_standard_input();
  return copy ? load_ours_or_imported(*copy, "standard input") : std::unexpected(copy.error());
}

/// As of open_symbolizer().
std::unique_ptr<Symbolizer> open_first(const ExecutableIdentity& identity) {
  if (auto imported = imported_names().open(identity)) return imported;
  if (auto kept = all_kept_names().open(identity, &open_here_or_there)) return kept;
  return open_here_or_there(identity);
}

/// The line of progress says which of how many files it is.
Result<Profile> load_one(const std::string& file, size_t number, size_t all) {
  ProgressLine::show(all == 1 ? "reading " + file
                              : fmt::format("reading {}, {} of {} files", file, number, all));
  return load_file_or_input(file);
}

}  // namespace

bool is_file_of_profile(const std::string& word) {
  if (word.empty()) return false;
  const UniqueFd fd(open(word.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return fd.valid() && is_profile(fd.get());
}

bool is_source_of_profiles(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 &&
         (files_read().contains({status.st_dev, status.st_ino}) || is_file_of_profile(path));
}

std::string& wanted_values() {
  static std::string kind;
  return kind;
}

Result<Profile> load_any(const std::string& file) {
  Result<Profile> profile = load_one(file, 1, 1);
  if (profile) expect_addresses(*profile);
  return profile;
}

void keep_names(int fd, Profile* profile) {
  if (auto added = add_names(fd); !added) profile->damage.push_back(damaged_names(added.error()));
}

std::string damaged_names(const Error& error) {
  return fmt::format("the names in it cannot be read: {}", error.text);
}

const KeptNames& kept_names() { return all_kept_names(); }

std::unique_ptr<Symbolizer> open_symbolizer(const ExecutableIdentity& identity) {
  return open_counted(identity, &open_first);
}

std::optional<KeptSource> kept_source(const std::string& path) {
  const auto kept = kept_names().source(path);
  if (!kept) return {};
  return KeptSource{kept->text, kept->changed_unix_ns, kept->differs()};
}

bool is_imported(const Executable& executable) { return imported_names().knows(executable.stamp); }

bool has_imported(const Profile& profile) { return std::ranges::any_of(profile.executables, is_imported); }

bool is_of_another_tool(const Profile& profile) {
  return has_imported(profile) || profile.engine == "gperftools";
}

Result<void> SeparateFiles::add(const std::string& file) {
  const Result<std::string> path = file == "-" ? copy_of_standard_input() : file;
  struct stat status;
  if (!path || stat(path->c_str(), &status) != 0) return {};
  const auto [entry, fresh] = files_.try_emplace({status.st_dev, status.st_ino}, file);
  if (fresh) return {};
  return fail(EINVAL, "%s and %s are one file, which would count twice; leave one out", entry->second.c_str(),
              file.c_str());
}

bool SeparateRuns::load(const std::vector<std::string>& files, std::vector<Profile>* profiles) {
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    Result<Profile> profile = load_one(file, i + 1, files.size());
    Result<void> separate = profile ? recordings_.add(*profile, file) : std::unexpected(profile.error());
    if (separate) separate = files_.add(file);
    if (!separate) {
      complain("{}", separate.error().text);
      return false;
    }
    expect_addresses(*profile);
    profiles->push_back(std::move(*profile));
  }
  return true;
}

Result<Profile> load_sum(const std::vector<std::string>& files, const SumOptions& options) {
  Merger merger(options.most_bytes, options.remedy);
  SeparateFiles separate;
  std::vector<std::string> damage;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& file = files[i];
    if (auto room = merger.check_room(size_of(file), file); !room) return std::unexpected(room.error());
    Result<Profile> profile = load_one(file, i + 1, files.size());
    if (!profile) return profile;
    name_faults(file, *profile, &damage);
    merger.set_held_by_caller(kept_names().memory());
    if (!options.paths) profile->paths = {};
    if (auto added = merger.add(std::move(*profile), file); !added) return std::unexpected(added.error());
    if (auto added = separate.add(file); !added) return std::unexpected(added.error());
  }
  Profile sum = merger.take();
  sum.damage = std::move(damage);
  expect_addresses(sum);
  return sum;
}

Result<Profile> load_as_one(const std::vector<std::string>& files) {
  return files.size() == 1 ? load_any(files.front()) : load_sum(files);
}

void name_damage(const Profile& profile, const std::string& file) { name_damage(profile.damage, file); }

int exit_code_of(const Profile& profile, int code) { return exit_code_of(!profile.damage.empty(), code); }

}  // namespace pctally
