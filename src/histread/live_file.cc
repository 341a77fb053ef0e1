#include "histread/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/file/read_all.h"
#include "base/tick_excess.h"
#include "histfile/profile_file.h"
#include "histread/path_reader.h"

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr uint64_t kPatienceNs = 20'000'000;
constexpr uint64_t kWholeNs = 1'000'000'000;           ///< for copies whose parts contradict each other
constexpr unsigned kAttempts = 2, kWholeAttempts = 4;  ///< at least, where patience is out
constexpr long kPauseNs = 300'000;    ///< between two attempts: a drain takes about that long
constexpr unsigned kMostRounds = 64;  ///< a forged file may claim to grow without end

/// A tick that comes late is its process's, and is lost: its place is not known. Only the engine trap has
/// such.
uint64_t lost_in_processes(const FileHeader& header) {
  return strncmp(header.engine, "trap", sizeof header.engine) == 0 ? header.ledger.lost : 0;
}

/// What changes with every tick, in the order a tick changes it.
struct Sums {
  uint64_t processes = 0;
  uint64_t lost_in_processes = 0;
  uint64_t cells = 0;
  uint64_t paths = 0;  ///< 0 without call paths
  Ledger ledger{};

  bool operator==(const Sums& other) const {
    return processes == other.processes && cells == other.cells && paths == other.paths &&
           memcmp(&ledger, &other.ledger, sizeof ledger) == 0;
  }
  /// No tick was half-way: everything a tick raises agrees. It raises its process first; those for which
  /// there was no room have no ticks.
  [[nodiscard]] bool balanced() const {
    uint64_t placed = ledger.counted + ledger.outside + ledger.full + ledger.deferred - ledger.resolved;
    const bool has_paths = paths == 0 || paths == ledger.counted + ledger.outside + ledger.full;
    return has_paths && cells == ledger.counted && processes <= placed + lost_in_processes;
  }
};

Sums sums_of(const FileContents& contents) {
  Sums sums;
  for (const FileProcess& process : contents.processes) sums.processes += process.ticks;
  sums.cells = sum_of_cells(contents);
  sums.paths = sum_of_paths(contents.paths);
  sums.ledger = contents.header.ledger;
  sums.lost_in_processes = lost_in_processes(contents.header);
  return sums;
}

/// Bytes [from, to) of the file into their place, in ascending order; false on an error. Stops early where
/// the file does.
bool read_part(int fd, uint64_t from, uint64_t to, Bytes* bytes) {
  if (bytes->size() < to) bytes->resize(to);
  const ssize_t got = read_all_at(fd, from, bytes->data() + from, to - from);
  if (got < 0) return false;
  from += static_cast<uint64_t>(got);
  if (from < to && bytes->size() == to) bytes->resize(from);
  return true;
}

Result<FileHeader> read_header(int fd) {
  Bytes bytes;
  if (!read_part(fd, 0, std::min(size_of_file(fd), kHeaderBytes), &bytes))
    return fail(errno, "cannot read: %s", strerror(errno));
  return read_file_header(bytes);
}

/// Odd while the context tree is being pruned; 0 without call paths.
uint64_t prunes_of(int fd, const FileHeader& header) {
  uint64_t prunes = 0;
  const uint64_t at = unit_offset(header.paths) + offsetof(PathRecord, prunes);
  if (header.paths == 0 || read_all_at(fd, at, &prunes, sizeof prunes) != sizeof prunes) return 0;
  return prunes;
}

/// Where the part in use ends.
uint64_t used_bytes(int fd, const FileHeader& header) {
  uint64_t units = std::min(header.pool.used, header.pool.limit);
  uint64_t most = kHeaderBytes + (header.runs == 0 ? kLargestBytes : kLargestMergedBytes);
  return std::min({size_of_file(fd), most, unit_offset(units)});
}

/// Copies the pool upwards and what was added to it meanwhile. What refers to a unit was made after it and,
/// but for the heads of chains, lies below it: so whatever the copy refers to is in the copy, complete.
Result<FileHeader> copy_pool(int fd, const FileHeader& first, Bytes* bytes) {
  FileHeader header = first;
  uint64_t done = kHeaderBytes;
  bytes->resize(kHeaderBytes);
  for (unsigned round = 0; round < kMostRounds; ++round) {
    uint64_t end = used_bytes(fd, header);
    if (end > done && !read_part(fd, done, end, bytes))
      return fail(errno, "cannot read: %s", strerror(errno));
    auto now = read_header(fd);
    if (!now || end <= done) return now;
    done = end;
    header = *now;
  }
  return header;
}

struct Attempt {
  FileHeader before;  ///< the header as it was first
  bool whole;         ///< nothing was pruned meanwhile, and every node hangs on another that was copied, too
};

/// The heads of chains as they were before the pool was copied, the account as it was afterwards.
FileHeader joined(const FileHeader& before, const FileHeader& latest) {
  FileHeader after = latest;
  after.objects = before.objects;
  after.processes = before.processes;
  after.scopes = before.scopes;
  after.process_count = before.process_count;
  after.command = before.command;
  after.names = 0;  // the copy ends with the pool
  return after;
}

Result<Attempt> copy_once(int fd, FileCopy* copy) {
  auto before = read_header(fd);
  if (!before) return std::unexpected(before.error());
  const uint64_t prunes = prunes_of(fd, *before);
  auto after = copy_pool(fd, *before, &copy->bytes);
  if (!after) return std::unexpected(after.error());
  FileHeader header = joined(*before, *after);
  memcpy(copy->bytes.data(), &header, sizeof header);
  auto contents = read_file_contents(copy->bytes);
  if (!contents) return std::unexpected(contents.error());
  copy->contents = std::move(*contents);
  bool chains = before->objects == after->objects && before->processes == after->processes;
  copy->still = chains && before->state == after->state &&
                memcmp(&before->ledger, &after->ledger, sizeof before->ledger) == 0;
  const bool pruned = prunes % 2 != 0 || prunes != prunes_of(fd, *before);
  return Attempt{*before, !pruned && copy->contents.damage.empty()};
}

/// The recorder holds an exclusive lock on the file as long as it lives.
bool is_locked(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

std::unexpected<Error> cannot_open(const char* path) {
  const int error = errno;
  struct stat status;
  const bool foreign = error == EACCES && stat(path, &status) == 0 && status.st_uid != geteuid();
  return fail(error, "cannot open %s: %s%s", path, strerror(error),
              foreign ? "; another user owns it: use sudo, or sudo chown it" : "");
}

}  // namespace

Result<LiveFile> LiveFile::open(const char* path) {
  LiveFile file;
  file.fd_.reset(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.fd_.valid()) return cannot_open(path);
  struct stat status;
  if (fstat(file.fd_.get(), &status) != 0) return fail(errno, "cannot stat %s: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, "%s is not a regular file", path);
  return file;
}

Result<FileCopy> LiveFile::copy() const {
  // Not before there is a header: its recorder has the lock by then, and our question cannot get in its way.
  if (auto header = read_header(fd_.get()); !header) return std::unexpected(header.error());
  FileCopy copy;
  // Asked first: a recorder that ends after this has closed the file by the time its bytes are read.
  copy.recorder_alive = is_locked(fd_.get());
  Sums last;
  uint64_t until = monotonic_ns() + kPatienceNs;
  for (unsigned attempts = 1;; ++attempts, sleep_ns(kPauseNs)) {
    auto attempt = copy_once(fd_.get(), &copy);
    if (!attempt) return std::unexpected(attempt.error());
    if (attempt->before.state == FileState::kClosed) {
      copy.still = true;
      return copy;
    }
    // A recorder killed while it pruned leaves a tree that never hangs together better.
    const bool whole = attempt->whole || !copy.recorder_alive;
    Sums sums = sums_of(copy.contents);
    const bool unmoved = copy.still && whole;
    copy.still = unmoved && sums.balanced();
    // A thread killed inside its tick leaves sums that never balance: it is enough that nothing moves.
    const bool rests = copy.still || (unmoved && sums == last);
    const bool tried = attempts >= (whole ? kAttempts : kWholeAttempts);
    if (rests || (tried && monotonic_ns() >= until + (whole ? 0 : kWholeNs))) return copy;
    last = sums;
  }
}

uint64_t sum_of_cells(const FileContents& contents) {
  uint64_t sum = 0;
  for (const WeightedPosition& cell : contents.cells) sum += cell.ticks;
  return sum;
}

uint64_t balance_account(FileContents* contents) {
  Ledger& ledger = contents->header.ledger;
  ledger.counted = sum_of_cells(*contents);
  if (ledger.deferred > ledger.resolved) ledger.outside += ledger.deferred - ledger.resolved;
  ledger.resolved = ledger.deferred;
  const uint64_t excess =
      take_tick_excess(&contents->processes, ledger.counted + ledger.outside + ledger.full);
  return excess - std::min(excess, lost_in_processes(contents->header));
}

}  // namespace pctally
