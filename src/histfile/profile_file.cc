#include "histfile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include <algorithm>

namespace pctally {
namespace {

constexpr uint64_t kRoomKept =
    (256 << 10) / kUnitBytes;  ///< units always ready for ticks between two growths

uint64_t clock_ns(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return to_ns(time);
}

template <size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  size_t length = strnlen(from, N - 1);
  memcpy(to, from, length);
  to[length] = '\0';
}

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void read_boot_id(uint8_t (&id)[16]) noexcept {
  UniqueFd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[64];
  ssize_t bytes = fd.valid() ? read(fd.get(), text, sizeof text) : 0;
  unsigned nibbles = 0;
  for (ssize_t i = 0; i < bytes && nibbles < 32; ++i) {
    int digit = hex_digit(text[i]);
    if (digit < 0) continue;
    id[nibbles / 2] = static_cast<uint8_t>(id[nibbles / 2] << 4 | digit);
    ++nibbles;
  }
}

void describe_machine(FileHeader& header) noexcept {
  utsname names{};
  uname(&names);
  copy_text(header.release, names.release);
  copy_text(header.machine, names.machine);
  read_boot_id(header.boot_id);
}

void fill_header(FileHeader& header, const ProfileFile::Settings& settings) noexcept {
  memcpy(header.magic, kMagic, sizeof header.magic);
  header.version = kLayoutVersion;
  header.header_bytes = kHeaderBytes;
  header.byte_order = 0x01020304;
  header.unit_bytes = kUnitBytes;
  header.pointer_bytes = sizeof(void*);
  header.pool.used = 1;
  header.pool.limit = static_cast<uint32_t>((settings.bytes - kHeaderBytes) / kUnitBytes);
  copy_text(header.engine, settings.engine);
  copy_text(header.event, settings.event);
  header.period_asked_ns = settings.period_asked_ns;
  header.period_ns = settings.period_ns;
  header.clock_tick_ns = settings.clock_tick_ns;
  header.kernel_observed = settings.kernel_observed;
  header.started_unix_ns = clock_ns(CLOCK_REALTIME);
  header.started_ns = header.heartbeat_ns = monotonic_ns();
  describe_machine(header);
}

/// An existing file is replaced by unlinking: whoever has it mapped keeps it, and a link is never followed.
Result<void> remove_old(const char* path) {
  struct stat status;
  if (lstat(path, &status) != 0) return {};
  if (!S_ISREG(status.st_mode))
    return fail(EEXIST, "%s is not a regular file: choose another name with -o", path);
  if (unlink(path) != 0) return fail(errno, "cannot replace %s: %s", path, strerror(errno));
  return {};
}

Result<UniqueFd> open_new(const char* path) {
  UniqueFd fd(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.valid()) {
    fchmod(fd.get(), 0600);
    flock(fd.get(), LOCK_EX | LOCK_NB);
    return fd;
  }
  if (errno == EEXIST)
    return fail(EEXIST, "%s exists: choose another name with -o, or overwrite it with -f", path);
  return fail(errno, "cannot create %s: %s; choose another place with -o", path, strerror(errno));
}

/// A file that grows beyond RLIMIT_FSIZE is not only refused: SIGXFSZ ends the process, which may be somebody
/// else's program.
Result<void> check_size_limit(uint64_t bytes, const char* path) {
  rlimit size{};
  if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur == RLIM_INFINITY || bytes <= size.rlim_cur)
    return {};
  return fail(EFBIG, "no room for %llu KiB at %s: ulimit -f allows files of %llu KiB; raise it",
              static_cast<unsigned long long>(bytes >> 10), path,
              static_cast<unsigned long long>(size.rlim_cur >> 10));
}

Result<void> allocate(int fd, uint64_t offset, uint64_t bytes, const char* path) {
  if (auto allowed = check_size_limit(offset + bytes, path); !allowed) return allowed;
  int error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error == 0) return {};
  return fail(error, "no room for %llu KiB at %s: %s; free some space or choose another place with -o",
              static_cast<unsigned long long>(bytes >> 10), path, strerror(error));
}

/// Address space to map: what the file may grow to, or what it is now where address space is rationed.
size_t mapping_bytes(uint64_t file_bytes) noexcept {
  rlimit space{};
  if (sizeof(void*) < 8 || (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY))
    return static_cast<size_t>(file_bytes);
  return static_cast<size_t>(kLargestBytes);
}

constexpr auto kRingUnits = static_cast<uint32_t>(
    (sizeof(DeferredRing) + kDeferredSlots * sizeof(DeferredTick) + kUnitBytes - 1) / kUnitBytes);

uint32_t take_deferred_ring(const Pool& pool) noexcept {
  uint32_t unit = pool_take(pool, kRingUnits);
  if (unit != 0) pool_at<DeferredRing>(pool, unit)->slots = kDeferredSlots;
  return unit;
}

}  // namespace

Result<ProfileFile> ProfileFile::create(const Settings& settings) {
  if (settings.overwrite) {
    if (auto removed = remove_old(settings.path); !removed) return std::unexpected(removed.error());
  }
  auto fd = open_new(settings.path);
  if (!fd) return std::unexpected(fd.error());
  ProfileFile file;
  file.fd_ = std::move(*fd);
  auto allocated = allocate(file.fd_.get(), 0, settings.bytes, settings.path);
  auto map = allocated ? MappedFile::map(file.fd_.get(), mapping_bytes(settings.bytes), true)
                       : Result<MappedFile>(std::unexpected(allocated.error()));
  if (!map) {
    unlink(settings.path);
    return std::unexpected(map.error());
  }
  file.map_ = std::move(*map);
  fill_header(file.header(), settings);
  file.allocated_ = file.header().pool.limit;
  if (settings.deferred) file.header().deferred = file.deferred_ = take_deferred_ring(file.pool());
  return file;
}

Result<ProfileFile> ProfileFile::join(const char* path) {
  UniqueFd fd(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path, strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      static_cast<uint64_t>(status.st_size) < kHeaderBytes + kUnitBytes)
    return fail(EINVAL, "%s is not a live profile file of this user", path);
  auto map = MappedFile::map(fd.get(), mapping_bytes(static_cast<uint64_t>(status.st_size)), true);
  if (!map) return std::unexpected(map.error());
  ProfileFile file;
  file.map_ = std::move(*map);
  const FileHeader& header = file.header();
  if (memcmp(header.magic, kMagic, sizeof header.magic) != 0 || header.version != kLayoutVersion ||
      header.state == FileState::kClosed)
    return fail(EINVAL, "%s is not a live profile file of this version", path);
  const uint32_t ring = __atomic_load_n(&header.deferred, __ATOMIC_RELAXED);
  if (pool_holds(file.pool(), ring, kRingUnits)) file.deferred_ = ring;
  return file;
}

Pool ProfileFile::pool() const noexcept {
  Pool pool;
  pool.base = map_.data() + kHeaderBytes;
  pool.head = &header().pool;
  pool.mapped = static_cast<uint32_t>((map_.size() - kHeaderBytes) / kUnitBytes);
  if (allocated_ != 0 && allocated_ < pool.mapped) pool.mapped = allocated_;
  return pool;
}

DeferredRing* ProfileFile::deferred() const noexcept {
  return deferred_ == 0 ? nullptr : pool_at<DeferredRing>(pool(), deferred_);
}

/// An Error if the file is not what it was. Where a cut came to a fault, empty memory is in its place.
Result<void> ProfileFile::check_whole() const noexcept {
  struct stat status;
  if (fstat(fd_.get(), &status) != 0 ||
      static_cast<uint64_t>(status.st_size) < kHeaderBytes + uint64_t{allocated_} * kUnitBytes)
    return fail(EIO, "somebody else cut the profile file while it was recorded: its ticks are gone");
  const FileHeader& head = header();
  if (memcmp(head.magic, kMagic, sizeof head.magic) == 0 && head.version == kLayoutVersion) return {};
  return fail(EIO, "a program overwrote the profile file while it was recorded: its ticks are gone");
}

bool ProfileFile::make_room(uint64_t units) noexcept {
  if (!fd_.valid()) return false;
  PoolHead& head = header().pool;
  if (__atomic_load_n(&head.limit, __ATOMIC_RELAXED) != allocated_)  // a program has changed it
    __atomic_store_n(&head.limit, allocated_, __ATOMIC_RELEASE);
  uint64_t wanted = __atomic_load_n(&head.used, __ATOMIC_RELAXED) + units + kRoomKept;
  while (allocated_ < wanted) {
    uint64_t bytes = kHeaderBytes + uint64_t{allocated_} * kUnitBytes;
    out_of_room_ = out_of_room_ || !check_whole();
    if (out_of_room_ || bytes + kGrowthBytes > map_.size()) return false;
    if (!allocate(fd_.get(), bytes, kGrowthBytes, "")) {
      out_of_room_ = true;
      return false;
    }
    allocated_ += static_cast<uint32_t>(kGrowthBytes / kUnitBytes);
    __atomic_store_n(&head.limit, allocated_, __ATOMIC_RELEASE);
  }
  return true;
}

void ProfileFile::beat() noexcept { store_relaxed(&header().heartbeat_ns, monotonic_ns()); }

Result<void> ProfileFile::close(bool cut) noexcept {
  if (auto whole = check_whole(); !whole) {
    fd_.reset();
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
    error = ftruncate(fd_.get(), static_cast<off_t>(kHeaderBytes + uint64_t{used} * kUnitBytes));
  }
  flock(fd_.get(), LOCK_UN);  // the mapping would hold the lock beyond the descriptor
  fd_.reset();
  if (error != 0) return fail(errno, "cannot cut the profile file to its used size: %s", strerror(errno));
  return {};
}

}  // namespace pctally
