#include "histfile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>

#include "base/hex.h"
#include "base/kernel/kernel_setting.h"
#include "base/time_ns.h"
#include "histfile/file_identity.h"

namespace pctally {
namespace {

constexpr uint64_t kRoomKept =
    (256 << 10) / kUnitBytes;  ///< units always ready for ticks between two growths
constexpr uint64_t kRoomForPrograms =
    (2 << 20) / kUnitBytes;  ///< and for the directories of a program that begins: 128 MiB of text

template <size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  size_t length = strnlen(from, N - 1);
  memcpy(to, from, length);
  to[length] = '\0';
}

void describe_machine(FileHeader& header) noexcept {
  utsname names{};
  uname(&names);
  copy_text(header.release, names.release);
  copy_text(header.machine, names.machine);
  (void)read_boot_id(&header.boot_id);
}

/// Where the kernel has no random bytes yet, or a filter forbids to ask: what no two recordings share.
void draw_id(uint8_t (&id)[16]) noexcept {
  if (getrandom(id, sizeof id, GRND_NONBLOCK) == sizeof id) return;
  const uint64_t words[2] = {realtime_ns(), monotonic_ns() ^ static_cast<uint64_t>(getpid()) << 40};
  memcpy(id, words, sizeof id);
}

void fill_header(FileHeader& header, const ProfileFile::Settings& settings) noexcept {
  identify(&header);
  header.pool.used = 1;
  header.pool.limit = static_cast<uint32_t>((settings.bytes - kHeaderBytes) / kUnitBytes);
  copy_text(header.engine, settings.engine);
  copy_text(header.event, settings.event);
  header.period_asked_ns = settings.period_asked_ns;
  header.period_ns = settings.period_ns;
  header.clock_tick_ns = settings.clock_tick_ns;
  header.kernel_observed = settings.kernel_observed;
  header.started_unix_ns = realtime_ns();
  header.started_ns = header.heartbeat_ns = monotonic_ns();
  describe_machine(header);
  draw_id(header.recording_id);
}

/// A file that grows beyond RLIMIT_FSIZE is not only refused: SIGXFSZ ends the process, which may be
/// somebody else's program.
Result<void> check_size_limit(uint64_t bytes, const char* path) {
  rlimit size{};
  if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur == RLIM_INFINITY || bytes <= size.rlim_cur)
    return {};
  return fail(EFBIG, "no room for the profile: %llu KiB at %s, and ulimit -f allows %llu KiB",
              static_cast<unsigned long long>(bytes >> 10), path,
              static_cast<unsigned long long>(size.rlim_cur >> 10));
}

/// Signals may come in the meantime. tmpfs of older kernels (5.10, 6.1) gives up the call for any, with all
/// that it has done; in steps it gets on.
int allocate_blocks(int fd, uint64_t offset, uint64_t bytes) noexcept {
  constexpr uint64_t kLeastStep = 4096;
  uint64_t step = kGrowthBytes;
  for (const uint64_t end = offset + bytes; offset < end;) {
    const uint64_t now = std::min(step, end - offset);
    const int error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(now));
    if (error == 0)
      offset += now;
    else if (error != EINTR)
      return error;
    else if (step > kLeastStep)
      step /= 2;
  }
  return 0;
}

Result<void> allocate(int fd, uint64_t offset, uint64_t bytes, const char* path) {
  if (auto allowed = check_size_limit(offset + bytes, path); !allowed) return allowed;
  const int error = allocate_blocks(fd, offset, bytes);
  if (error == 0) return {};
  return fail(error, "no room for the profile: %llu KiB at %s: %s",
              static_cast<unsigned long long>(bytes >> 10), path, strerror(error));
}

/// Address space to map: what the file may grow to, or what it is now where that is more than an eighth of
/// what the process may have.
size_t mapping_bytes(uint64_t file_bytes) noexcept {
  rlimit space{};
  const bool is_much = getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
                       space.rlim_cur < kLeastFreeSpace;
  return static_cast<size_t>(sizeof(void*) < 8 || is_much ? file_bytes : kLargestBytes);
}

constexpr auto kRingUnits = static_cast<uint32_t>(
    (sizeof(DeferredRing) + kDeferredSlots * sizeof(DeferredTick) + kUnitBytes - 1) / kUnitBytes);

uint32_t take_deferred_ring(const Pool& pool) noexcept {
  uint32_t unit = pool_take(pool, kRingUnits);
  if (unit != 0) pool_at<DeferredRing>(pool, unit)->slots = kDeferredSlots;
  return unit;
}

}  // namespace

NewFile::Plan profile_plan(const char* path, bool overwrite) noexcept {
  return {path, overwrite, is_profile, "a profile file"};
}

Result<ProfileFile> ProfileFile::create(const Settings& settings) {
  auto made = NewFile::create(profile_plan(settings.path, settings.overwrite));
  if (!made) return std::unexpected(made.error());
  ProfileFile file;
  file.own_ = static_cast<NewFile&&>(*made);
  auto allocated = allocate(file.own_.fd(), 0, settings.bytes, settings.path);
  auto map = allocated ? MappedFile::map(file.own_.fd(), mapping_bytes(settings.bytes), true)
                       : Result<MappedFile>(std::unexpected(allocated.error()));
  if (!map) {
    file.discard();
    return std::unexpected(map.error());
  }
  file.map_ = static_cast<MappedFile&&>(*map);
  fill_header(file.header(), settings);
  file.allocated_ = file.header().pool.limit;
  if (settings.deferred) (void)file.expect_programs();
  return file;
}

Result<ProfileFile> ProfileFile::join(const char* path, const char* id) {
  char part[PATH_MAX];
  if (part_name(path, &part))  // a recording that replaces an older file has its name only later
    if (auto file = join_at(part, id); file) return file;
  return join_at(path, id);
}

Result<ProfileFile> ProfileFile::join_at(const char* path, const char* id) {
  UniqueFd fd(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path, strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      static_cast<uint64_t>(status.st_size) < kHeaderBytes + kUnitBytes)
    return fail(EINVAL, "%s is not a live profile file of this user", path);
  auto map = MappedFile::map(fd.get(), mapping_bytes(static_cast<uint64_t>(status.st_size)), true);
  if (!map) return std::unexpected(map.error());
  ProfileFile file;
  file.map_ = static_cast<MappedFile&&>(*map);
  const FileHeader& header = file.header();
  if (memcmp(header.magic, kMagic, sizeof header.magic) != 0 || !is_layout_version(header.version) ||
      header.state == FileState::kClosed)
    return fail(EINVAL, "%s is not a live profile file of this version", path);
  if (strcmp(file.recording_id().text, id) != 0) return fail(ESTALE, "%s is another recording's", path);
  const uint32_t ring = __atomic_load_n(&header.deferred, __ATOMIC_RELAXED);
  if (pool_holds(file.pool(), ring, kRingUnits)) file.deferred_ = ring;
  return file;
}

RecordingId ProfileFile::recording_id() const noexcept {
  RecordingId id;
  char* to = id.text;
  for (uint8_t byte : header().recording_id) to = put_hex(byte, to);
  return id;
}

Pool ProfileFile::pool() const noexcept {
  Pool pool;
  pool.base = map_.data() + kHeaderBytes;
  pool.head = &header().pool;
  pool.mapped = static_cast<uint32_t>((map_.size() - kHeaderBytes) / kUnitBytes);
  const uint32_t allocated = __atomic_load_n(&allocated_, __ATOMIC_RELAXED);  // make_room() may run beside
  if (allocated != 0 && allocated < pool.mapped) pool.mapped = allocated;
  return pool;
}

DeferredRing* ProfileFile::deferred() const noexcept {
  return deferred_ == 0 ? nullptr : pool_at<DeferredRing>(pool(), deferred_);
}

/// An Error if the file is not what it was. Where a cut came to a fault, empty memory is in its place. EBADF:
/// the program has closed the descriptor, and nothing else is wrong that the mapping shows.
Result<void> ProfileFile::check_whole() const noexcept {
  const bool owns = own_.owns();
  struct stat status;
  if (owns && (fstat(own_.fd(), &status) != 0 ||
               static_cast<uint64_t>(status.st_size) < kHeaderBytes + uint64_t{allocated_} * kUnitBytes))
    return fail(EIO, "somebody else cut the profile file while it was recorded: its ticks are gone");
  const FileHeader& head = header();
  if (memcmp(head.magic, kMagic, sizeof head.magic) != 0 || !is_layout_version(head.version))
    return fail(EIO, "a program overwrote the profile file while it was recorded: its ticks are gone");
  if (owns) return {};
  return fail(EBADF,
              "the program closed the descriptor of the profile file: the profile is complete, but "
              "keeps the size that it had");
}

bool ProfileFile::can_spare(uint64_t units) const noexcept {
  const Pool view = pool();
  const uint64_t end = __atomic_load_n(&view.head->used, __ATOMIC_RELAXED) + units + kRoomKept;
  return end <= std::min(__atomic_load_n(&view.head->limit, __ATOMIC_RELAXED), view.mapped);
}

bool ProfileFile::have_no_room(int code) noexcept {
  no_room_code_ = code;
  out_of_room_ = true;
  return false;
}

bool ProfileFile::make_room(uint64_t units) noexcept {
  if (!is_own()) return false;
  PoolHead& head = header().pool;
  if (__atomic_load_n(&head.limit, __ATOMIC_RELAXED) != allocated_)  // a program has changed it
    __atomic_store_n(&head.limit, allocated_, __ATOMIC_RELEASE);
  uint64_t wanted = __atomic_load_n(&head.used, __ATOMIC_RELAXED) + units + kRoomKept;
  if (deferred_ != 0) wanted += kRoomForPrograms;
  while (allocated_ < wanted) {
    uint64_t bytes = kHeaderBytes + uint64_t{allocated_} * kUnitBytes;
    if (out_of_room_) return false;
    if (auto whole = check_whole(); !whole) return have_no_room(whole.error().code);
    if (bytes + kGrowthBytes > map_.size()) {
      no_room_code_ = sizeof(void*) >= 8 && map_.size() < kLargestBytes ? ENOMEM : ENOSPC;
      return false;
    }
    if (auto room = allocate(own_.fd(), bytes, kGrowthBytes, ""); !room)
      return have_no_room(room.error().code);
    __atomic_fetch_add(&allocated_, static_cast<uint32_t>(kGrowthBytes / kUnitBytes), __ATOMIC_RELAXED);
    __atomic_store_n(&head.limit, allocated_, __ATOMIC_RELEASE);
  }
  return true;
}

bool ProfileFile::expect_programs() noexcept {
  if (deferred_ != 0) return true;
  (void)make_room(kRingUnits);  // where it fails there may be room all the same
  header().deferred = deferred_ = take_deferred_ring(pool());
  return deferred_ != 0;
}

void ProfileFile::beat() noexcept { store_relaxed(&header().heartbeat_ns, monotonic_ns()); }

Result<void> ProfileFile::close(bool cut) noexcept {
  const auto whole = check_whole();
  if (!whole && whole.error().code != EBADF) {
    own_.close();
    return whole;
  }
  FileHeader& head = header();
  head.ended_ns = monotonic_ns();
  beat();
  __atomic_store_n(&head.ended, 1, __ATOMIC_RELEASE);
  FileState closed = FileState::kClosed;
  __atomic_store(&head.state, &closed, __ATOMIC_RELEASE);
  int error = 0;
  if (cut) {
    const uint32_t used = std::min(__atomic_load_n(&head.pool.used, __ATOMIC_RELAXED), allocated_);
    __atomic_store_n(&head.pool.limit, used, __ATOMIC_RELEASE);
    if (whole) error = ftruncate(own_.fd(), static_cast<off_t>(kHeaderBytes + uint64_t{used} * kUnitBytes));
  }
  if (error != 0) error = errno;
  own_.close();
  if (!whole) return whole;
  if (error != 0) return fail(error, "cannot cut the profile file to its used size: %s", strerror(error));
  return {};
}

}  // namespace pctally
