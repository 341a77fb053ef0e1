#include "task/process_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/base_name.h"
#include "base/file/process_root.h"
#include "base/file/read_all.h"
#include "base/file/stat_at_once.h"
#include "base/kernel/proc_file.h"
#include "base/time_ns.h"
#include "histfile/chain.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr size_t kMostFiles = 4096;
constexpr size_t kMostWaiting = 64;
constexpr size_t kMostBlocks = 256;         ///< 16 MiB
constexpr uint64_t kClocksNs = 20'000'000;  ///< by so much the clocks of files and of processes may differ
constexpr uint64_t kRetryNs = 100'000'000;

size_t most_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<size_t>(kMostFiles, limit.rlim_cur / 2);
}

std::string text_of(const HeldFileKey& key) {
  std::string text(key.path);
  text.push_back('\0');
  text.append(reinterpret_cast<const char*>(key.build_id.data()), key.build_id.size());
  if (key.build_id.empty()) text += std::to_string(key.device) + ':' + std::to_string(key.inode);
  return text;
}

bool is_a_file(const ObjectIdentity& object) {
  return object.kind == ObjectKind::kFile && object.path.size() > 1 && object.path[0] == '/';
}

/// "/home/me/jit-1234.dump"
bool is_jit_dump(std::string_view path) {
  constexpr std::string_view kStart = "jit-", kEnd = ".dump";
  std::string_view name = base_name(path);
  if (!path.starts_with('/') || !name.starts_with(kStart) || !name.ends_with(kEnd)) return false;
  name = name.substr(kStart.size(), name.size() - std::min(name.size(), kStart.size() + kEnd.size()));
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

FileFacts facts_in(const struct statx& status) noexcept {
  return {device_number(status), status.stx_ino, status.stx_size,
          static_cast<uint64_t>(status.stx_mtime.tv_sec) * kNsPerSecond + status.stx_mtime.tv_nsec};
}

std::optional<FileFacts> facts_in_cache(const std::string& path) {
  struct statx status;
  if (path.starts_with("/proc/")) return std::nullopt;  // of another root: its links are not ours to follow
  const UniqueFd fd = find_in_cache(path);
  if (!fd.valid() || !stat_at_once(fd.get(), "", &status)) return std::nullopt;
  return facts_in(status);
}

/// A copy of what others may be writing; empty if it is none, or too long for a path.
std::string path_at(const Pool& pool, uint32_t unit) {
  if (!pool_holds(pool, unit, 1)) return {};
  const auto* record = pool_at<StringRecord>(pool, unit);
  const uint32_t bytes = __atomic_load_n(&record->bytes, __ATOMIC_RELAXED);
  if (bytes >= PATH_MAX) return {};
  if (!pool_holds(pool, unit, string_units(bytes))) return {};
  std::string path(reinterpret_cast<const char*>(record + 1), bytes);
  return path.find('\0') == std::string::npos ? path : std::string();
}

bool is_refusal(int error) { return error == EACCES || error == EPERM; }

/// `page`: an object's first, from memory; zeros if it could not be read.
void take_build_id(std::string_view page, ExecutableMapping* mapping) {
  const auto read = [](void* of, uint64_t offset, void* to, size_t bytes) {
    const auto* first = static_cast<const std::string_view*>(of);
    if (offset != 0) return ssize_t{-1};
    return static_cast<ssize_t>(first->copy(static_cast<char*>(to), bytes));
  };
  mapping->header_read = page.starts_with(std::string_view(ELFMAG, SELFMAG));
  mapping->object.build_id = mapping->build_id;
  mapping->object.build_id_bytes = read_build_id(read, &page, mapping->build_id);
}

/// The mapping may have been recorded before its file was deleted.
bool ends_with_path(std::string_view path, std::string_view mapped) {
  constexpr std::string_view kEnd = " (deleted)";
  if (mapped.ends_with(kEnd) && !path.ends_with(kEnd)) mapped.remove_suffix(kEnd.size());
  return path.ends_with(mapped);
}

}  // namespace

ProcessFiles::ProcessFiles() : most_(most_descriptors()), most_searches_(kMostFiles) {}

Result<void> ProcessFiles::start_helper() {
  struct statx own;
  if (stat_at_once(AT_FDCWD, "/proc/self/exe", &own)) own_device_ = device_number(own);
  return helper_.start();
}

bool ProcessFiles::is_beside_us(const struct statx& status) const noexcept {
  return own_device_ != 0 && device_number(status) == own_device_ && S_ISREG(status.stx_mode);
}

UniqueFd ProcessFiles::open_beside_us(const std::string& path) {
  struct statx status;
  if (path.starts_with("/proc/")) return {};  // of another root: its links are not ours to follow
  const UniqueFd place = find_in_cache(path);
  if (!place.valid() || !stat_at_once(place.get(), "", &status) || !is_beside_us(status)) return {};
  return open_place(place.get());
}

UniqueFd ProcessFiles::open(const std::string& path) {
  return helper_.was_started() ? open_beside_us(path) : FileReader::open(path);
}

/// Many reads are of a few bytes: a question for each would take longer than they do.
const std::string* ProcessFiles::block_at(int fd, uint64_t block) {
  const auto known = blocks_.find({fd, block});
  if (known != blocks_.end()) return &known->second;
  auto bytes = helper_.read_file(fd, block * FileHelper::kBlockBytes);
  if (!bytes) return nullptr;
  if (blocks_.size() >= kMostBlocks) blocks_.clear();
  return &(blocks_[{fd, block}] = std::move(*bytes));
}

ssize_t ProcessFiles::read(int fd, uint64_t offset, void* to, size_t bytes) {
  struct statx status;
  const bool answers = !helper_.was_started() || (stat_at_once(fd, "", &status) && is_beside_us(status));
  if (answers) return FileReader::read(fd, offset, to, bytes);
  size_t done = 0;
  while (done < bytes) {
    const uint64_t at = offset + done;
    const std::string* block = block_at(fd, at / FileHelper::kBlockBytes);
    if (block == nullptr) return -1;
    const size_t skipped = at % FileHelper::kBlockBytes;
    if (skipped >= block->size()) break;
    done += block->copy(static_cast<char*>(to) + done, bytes - done, skipped);
  }
  return static_cast<ssize_t>(done);
}

/// Those that are not in memory come from the file.
void ProcessFiles::read_build_ids(pid_t pid, std::vector<ExecutableMapping>* mappings) {
  std::vector<ExecutableMapping*> with_header;
  for (ExecutableMapping& mapping : *mappings)
    if (mapping.header != 0) with_header.push_back(&mapping);
  std::vector<uint64_t> addresses;
  for (size_t from = 0; from < with_header.size(); from += addresses.size()) {
    addresses.clear();
    for (size_t i = from; i < with_header.size() && addresses.size() < FileHelper::kMostImages; ++i)
      addresses.push_back(with_header[i]->header);
    const auto pages = helper_.read_images(pid, addresses);
    if (!pages) return;
    for (size_t i = 0; i < addresses.size(); ++i)
      take_build_id(std::string_view(*pages).substr(i * kElfPartBytes, kElfPartBytes), with_header[from + i]);
  }
}

bool ProcessFiles::visit_maps(ProcMaps* maps, pid_t pid, const VisitMapping& visit) {
  if (!helper_.was_started()) return maps->visit(visit);
  std::vector<ExecutableMapping> mappings;
  if (!maps->visit([&mappings](const ExecutableMapping& mapping) { mappings.push_back(mapping); }))
    return false;
  read_build_ids(pid, &mappings);
  std::ranges::for_each(mappings, visit);
  return true;
}

bool ProcessFiles::visit_maps(pid_t pid, const VisitMapping& visit) {
  const auto build_ids = helper_.was_started() ? ProcMaps::BuildIds::kLeaveOut : ProcMaps::BuildIds::kRead;
  ProcMaps ours(pid, build_ids);
  if (visit_maps(&ours, pid, visit)) return true;
  auto opened = helper_.open_maps(pid);
  if (!opened) return false;
  ProcMaps given(pid, std::move(*opened), build_ids);
  return visit_maps(&given, pid, visit);
}

/// By the helper's right, without build ids; of none if that is refused.
void ProcessFiles::visit_places(pid_t pid, const VisitMapping& visit) {
  auto maps = helper_.runs() ? helper_.open_maps(pid) : UniqueFd();
  if (!maps) return;
  constexpr auto kLeaveOut = ProcMaps::BuildIds::kLeaveOut;
  ProcMaps mappings = maps->valid() ? ProcMaps(pid, std::move(*maps), kLeaveOut) : ProcMaps(pid, kLeaveOut);
  (void)mappings.visit(visit);
}

/// Yama lets a program's parent read its memory, and nobody beside it.
std::optional<bool> ProcessFiles::has_trampoline(pid_t pid, uint64_t address) {
  if (helper_.was_started()) {
    const auto answer = helper_.has_trampoline(pid, address);
    if (answer) return *answer;
    if (!is_refusal(answer.error().code)) return std::nullopt;
  }
  return read_trampoline(pid, address);
}

Result<FileView> ProcessFiles::view_of(pid_t pid) {
  auto view = read_view(pid);
  return view || !is_refusal(view.error().code) || !helper_.runs() ? view : helper_.view_of(pid);
}

Result<FileFacts> ProcessFiles::facts_of(const std::string& path) {
  if (!helper_.was_started()) return read_facts(path);
  if (const auto cached = facts_in_cache(path)) return *cached;
  return helper_.facts_of(path);
}

std::string ProcessFiles::find_build_id(const std::string& path, bool first_part) {
  struct File {
    FileHelper* helper;
    const std::string& path;
    bool first_part;
    UniqueFd beside_us;  ///< where nobody else can be asked
  } file{&helper_, path, first_part, helper_.runs() ? UniqueFd() : open_beside_us(path)};
  const auto read = [](void* of, uint64_t offset, void* to, size_t most) {
    const auto* asked = static_cast<const File*>(of);
    if (asked->first_part && offset != 0) return ssize_t{-1};
    if (asked->beside_us.valid()) return read_all_at(asked->beside_us.get(), offset, to, most);
    const auto part = asked->helper->read_part(asked->path, offset);
    if (part) memcpy(to, part->data(), std::min(most, part->size()));
    return part ? static_cast<ssize_t>(std::min(most, part->size())) : ssize_t{-1};
  };
  uint8_t id[kBuildIdBytes];
  const uint32_t bytes = read_build_id(read, &file, id);
  return {reinterpret_cast<const char*>(id), bytes};
}

std::string ProcessFiles::build_id_of(const std::string& path) { return find_build_id(path, false); }

const std::string& ProcessFiles::build_id_of_mapped(const std::string& path, uint64_t inode) {
  static const std::string kNone;
  if (!helper_.was_started() || path.empty() || path[0] != '/') return kNone;
  if (build_ids_.size() >= kMostFiles) build_ids_.clear();
  const auto [entry, fresh] = build_ids_.try_emplace(path + '\n' + std::to_string(inode));
  if (!fresh) return entry->second;
  if (const auto facts = facts_of(path); facts && facts->inode == inode)
    entry->second = find_build_id(path, true);
  return entry->second;
}

void ProcessFiles::stamp(ObjectIdentity* object) {
  if (!helper_.was_started()) return stamp_file(object);
  if (object->build_id_bytes != 0 || object->inode == 0 || !is_a_file(*object)) return;
  const auto stamp = facts_of(std::string(object->path));
  if (!stamp || stamp->inode != object->inode) return;
  object->device = stamp->device;
  object->file_bytes = stamp->bytes;
  object->time_unix_ns = stamp->changed_unix_ns;
}

void ProcessFiles::hold_kernel_symbols() {
  kernel_symbols_.reset(::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
}

/// By its build id, or, where one of the two has none that is known, by its inode.
bool ProcessFiles::is_file_of(const std::string& link, const ObjectIdentity& object) {
  const std::string id = build_id_of(link);
  if (!id.empty() && object.build_id_bytes != 0)
    return id == std::string_view(reinterpret_cast<const char*>(object.build_id), object.build_id_bytes);
  const auto facts = facts_of(link);
  return facts && facts->inode == object.inode && facts->device == object.device;
}

/// The program's, which nobody can write to while it runs; and those of a few mappings that may be of it,
/// which root alone may follow. By its inode; if that is not known by its name, which has more before it here
/// if the process has another root. Without a build id nothing proves that the file is still what it was.
std::vector<std::string> ProcessFiles::links_to_deleted(const ObjectIdentity& object, pid_t pid) {
  constexpr size_t kMostLinks = 4;
  std::vector<std::string> links{directory_of(pid) + "/exe"};
  if (object.build_id_bytes == 0) return links;
  visit_places(pid, [&](const ExecutableMapping& mapping) {
    const bool may_be = object.inode != 0 ? mapping.object.inode == object.inode
                                          : ends_with_path(object.path, mapping.object.path);
    if (!may_be || links.size() >= kMostLinks) return;
    char range[2 * 16 + 2];
    snprintf(range, sizeof range, "%" PRIx64 "-%" PRIx64, mapping.start, mapping.end);
    links.push_back(directory_of(pid) + "/map_files/" + range);
  });
  return links;
}

/// What was deleted (by an upgrade, say, or by the program itself, before its first tick was read) has no
/// path any more, but its process leads to it. Not for ever: a JIT may have thousands of memfds, which are no
/// executables. And whoever makes a memfd may give it the name of another's: not if he is another user.
UniqueFd ProcessFiles::open_deleted(const ObjectIdentity& object, pid_t pid) {
  constexpr unsigned kMostFailures = 16;
  struct stat process;
  if (object.path.starts_with("/memfd:") &&
      (stat(directory_of(pid).c_str(), &process) != 0 || process.st_uid != geteuid()))
    return {};
  if (failed_searches_.size() >= kMostFiles) failed_searches_.clear();
  unsigned& failed = failed_searches_[pid];
  if (failed >= kMostFailures) return {};
  for (const std::string& link : links_to_deleted(object, pid)) {
    if (!is_file_of(link, object)) continue;
    auto fd = helper_.open_file(link);
    if (fd) return std::move(*fd);
  }
  ++failed;
  return {};
}

/// What is opened is kept: closing it asks some file systems.
UniqueFd ProcessFiles::open_mapped(const ObjectIdentity& object, pid_t pid) {
  if (!helper_.runs()) return open_beside_us(std::string(object.path));
  auto fd = helper_.open_file(object.path);
  return fd ? std::move(*fd) : open_deleted(object, pid);
}

int ProcessFiles::hold(const ObjectIdentity& object, pid_t pid) {
  if (!helper_.was_started() || !is_a_file(object)) return -1;
  const std::string key =
      text_of({object.path, {object.build_id, object.build_id_bytes}, object.device, object.inode});
  if (const auto found = files_.find(key); found != files_.end()) return found->second.get();
  if (files_.size() + perf_maps_.size() >= most_) return -1;
  UniqueFd fd = open_mapped(object, pid);
  if (!fd.valid()) return -1;
  return (files_[key] = std::move(fd)).get();
}

void ProcessFiles::hold_at_path(const Pool& pool, const ObjectRecord& record) {
  const ObjectRecord object = record;
  const std::string path = path_at(pool, object.path);
  if (object.kind == ObjectKind::kPrivate) hold_jit_dump(object.owner, "", object.time_unix_ns);
  const bool identified = object.build_id_bytes <= sizeof object.build_id;
  if (object.kind != ObjectKind::kFile || path.empty() || path[0] != '/' || !identified) return;
  if (path.starts_with("/proc/")) return;  // of another root: its links are not ours to follow
  const std::string key =
      text_of({path, {object.build_id, object.build_id_bytes}, object.device, object.inode});
  if (files_.size() >= most_ || files_.contains(key)) return;
  UniqueFd fd = find_in_cache(path);
  struct statx status;
  if (!fd.valid() || !stat_at_once(fd.get(), "", &status) || !S_ISREG(status.stx_mode)) return;
  if (status.stx_ino == object.inode) files_[key] = std::move(fd);
}

void ProcessFiles::hold_objects(const ProfileFile& file) {
  const uint32_t newest = __atomic_load_n(&file.header().objects, __ATOMIC_ACQUIRE);
  if (newest == newest_object_) return;
  const Pool pool = file.pool();
  walk_chain<ObjectRecord>(pool, &file.header().objects, kMostObjectsSearched,
                           [&](const ObjectRecord& record, uint32_t unit) {
                             if (unit == newest_object_) return true;
                             hold_at_path(pool, record);
                             return false;
                           });
  newest_object_ = newest;
}

UniqueFd ProcessFiles::open_names(const std::string& path) {
  if (!helper_.runs()) return find_in_cache(path);
  auto fd = helper_.open_file(path);
  return fd ? std::move(*fd) : UniqueFd();
}

/// Whoever runs there may write what he likes of himself, and of nobody else.
bool ProcessFiles::hold_names(const Waiting& wanted) {
  struct stat process;
  struct statx names;
  UniqueFd fd = open_names(wanted.path);
  if (!fd.valid()) return false;
  const bool known = stat((directory_of(wanted.pid)).c_str(), &process) == 0 &&
                     stat_at_once(fd.get(), "", &names) && S_ISREG(names.stx_mode);
  if (!known || (names.stx_uid != process.st_uid && names.stx_uid != 0)) return false;
  if (facts_in(names).changed_unix_ns + kClocksNs < wanted.started_unix_ns)
    return false;  // of an older process
  perf_maps_[wanted.pid] = std::move(fd);
  return true;
}

void ProcessFiles::hold_perf_map(pid_t pid, const std::string& root, uint64_t started_unix_ns) {
  const pid_t inside = number_inside(pid);
  if (!helper_.runs() || inside <= 0 || (inside == pid && root.empty())) return;
  if (files_.size() + perf_maps_.size() >= most_) return;
  Waiting wanted{pid, root + "/tmp/perf-" + std::to_string(inside) + ".map", started_unix_ns};
  perf_maps_.erase(pid);
  std::erase_if(waiting_, [pid](const Waiting& other) { return other.pid == pid; });
  if (!hold_names(wanted) && waiting_.size() < kMostWaiting) waiting_.push_back(std::move(wanted));
}

/// Its path as the process has it; empty if it has mapped none.
std::string ProcessFiles::find_jit_dump(pid_t pid) {
  std::string path;
  visit_places(pid, [&path](const ExecutableMapping& mapping) {
    if (is_jit_dump(mapping.object.path)) path = mapping.object.path;
  });
  return path;
}

/// Processes come without end. Who lives is remembered, however many they are.
void ProcessFiles::forget_searches() {
  std::erase_if(dump_searches_, [](const auto& search) {
    ProcStat stat;
    return !read_proc_stat(search.first.first, &stat);
  });
  most_searches_ = std::max(kMostFiles, 2 * dump_searches_.size());
}

/// Searched for whenever a process has ticks in new code, and not again and again: most runtimes write none.
bool ProcessFiles::hold_jit_dump(pid_t pid, const std::string& root, uint64_t started_unix_ns) {
  constexpr unsigned kMostSearches = 8, kFound = UINT_MAX;
  const auto known = dump_searches_.find({pid, started_unix_ns});
  if (known != dump_searches_.end() && known->second >= kMostSearches) return known->second == kFound;
  if (files_.size() + perf_maps_.size() >= most_) return false;
  if (dump_searches_.size() >= most_searches_) forget_searches();
  unsigned& searches = dump_searches_[{pid, started_unix_ns}];
  ++searches;
  const std::string path = find_jit_dump(pid);
  if (path.empty() || !hold_names({pid, root + path, started_unix_ns})) return false;
  std::erase_if(waiting_, [pid](const Waiting& other) { return other.pid == pid; });
  searches = kFound;
  return true;
}

void ProcessFiles::retry_waiting() {
  if (waiting_.empty() || monotonic_ns() < retried_ns_ + kRetryNs) return;
  retried_ns_ = monotonic_ns();
  std::erase_if(waiting_, [this](const Waiting& wanted) {
    ProcStat stat;
    return !read_proc_stat(wanted.pid, &stat) || hold_names(wanted);
  });
}

int ProcessFiles::find(const HeldFileKey& key) const {
  const auto found = files_.find(text_of(key));
  return found == files_.end() ? -1 : found->second.get();
}

int ProcessFiles::find_perf_map(pid_t pid) const {
  const auto found = perf_maps_.find(pid);
  return found == perf_maps_.end() ? -1 : found->second.get();
}

}  // namespace pctally
