#include "profile/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/unique_fd.h"
#include "histfile/process_note.h"
#include "histfile/reader.h"

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr uint64_t kMostBytes = kHeaderBytes + kLargestBytes;

/// A thread killed inside a tick has raised its process and perhaps its cell, and not the ledger: no damage.
constexpr uint64_t kTornTicks = 64;

std::string text_of(const char* field, size_t bytes) { return std::string(field, strnlen(field, bytes)); }

ExecutableKind executable_kind(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kVdso:
      return ExecutableKind::kVdso;
    case ObjectKind::kKernel:
      return ExecutableKind::kKernel;
    case ObjectKind::kPrivate:
      return ExecutableKind::kPrivate;
    default:
      return ExecutableKind::kFile;
  }
}

uint64_t span_ns(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

void describe_run(const FileHeader& header, Profile* profile) {
  profile->engine = text_of(header.engine, sizeof header.engine);
  profile->machine = text_of(header.machine, sizeof header.machine);
  profile->release = text_of(header.release, sizeof header.release);
  profile->boot_id.assign(header.boot_id, header.boot_id + sizeof header.boot_id);
  profile->period_asked_ns = header.period_asked_ns;
  profile->period_ns = header.period_ns;
  profile->started_unix_ns = header.started_unix_ns;
  profile->closed = header.state == FileState::kClosed;
  profile->duration_ns = span_ns(header.started_ns, profile->closed ? header.ended_ns : header.heartbeat_ns);
  profile->kernel_observed = header.kernel_observed != 0;
  profile->cpu_known = header.cpu_known != 0;
  profile->cpu_user_ns = header.cpu_user_ns;
  profile->cpu_system_ns = header.cpu_system_ns;
  profile->throttled = header.throttled;
  profile->clock_tick_ns = header.clock_tick_ns;
  profile->exit_status = header.exit_status;
}

/// Enters every object once, however often racing writers did, and returns where each went.
std::vector<uint32_t> merge_objects(std::vector<FileObject>& objects, Profile* profile) {
  using Identity = std::tuple<ObjectKind, std::string, std::vector<uint8_t>, int32_t>;
  std::map<Identity, uint32_t> known;
  std::vector<uint32_t> place;
  for (FileObject& object : objects) {
    auto next = static_cast<uint32_t>(profile->executables.size());
    auto [entry, fresh] = known.try_emplace({object.kind, object.path, object.build_id, object.owner}, next);
    if (fresh)
      profile->executables.push_back(
          {executable_kind(object.kind), std::move(object.path), std::move(object.build_id), object.owner});
    place.push_back(entry->second);
  }
  return place;
}

void merge_cells(const std::vector<FileCell>& cells, const std::vector<uint32_t>& place, Profile* profile) {
  std::vector<WeightedPosition>& positions = profile->positions;
  positions.reserve(cells.size());
  for (const FileCell& cell : cells) positions.push_back({place[cell.object], cell.position, cell.ticks});
  std::sort(positions.begin(), positions.end(), [](const WeightedPosition& a, const WeightedPosition& b) {
    return std::tie(a.executable, a.position) < std::tie(b.executable, b.position);
  });
  size_t kept = 0;
  for (const WeightedPosition& position : positions) {
    WeightedPosition* last = kept == 0 ? nullptr : &positions[kept - 1];
    if (last != nullptr && last->executable == position.executable && last->position == position.position)
      last->ticks += position.ticks;
    else
      positions[kept++] = position;
  }
  positions.resize(kept);
}

/// The cells are the truth of what was counted. In a live file the ledger is in motion; in a closed one it
/// agrees but for torn ticks, and ticks it knows of without a cell are lost ones.
void balance_ledger(const Ledger& ledger, Profile* profile) {
  TickLedger& sum = profile->ledger;
  for (const WeightedPosition& position : profile->positions) sum.counted += position.ticks;
  sum.outside = ledger.outside + span_ns(ledger.resolved, ledger.deferred);
  sum.full = ledger.full;
  sum.lost = ledger.lost;
  sum.samples = ledger.samples;
  sum.weight_squares = ledger.weight_squares;
  if (!profile->closed || ledger.counted == sum.counted) return;
  if (ledger.counted > sum.counted) sum.lost += ledger.counted - sum.counted;
  if (std::max(ledger.counted, sum.counted) - std::min(ledger.counted, sum.counted) <= kTornTicks) return;
  profile->damage.push_back("the file's account says " + std::to_string(ledger.counted) +
                            " ticks were counted, its cells hold " + std::to_string(sum.counted));
}

ProfileProcess process_of(FileProcess& process) {
  bool observed = (process.flags & kProcessObserved) != 0;
  return {.pid = process.pid,
          .parent = process.parent,
          .comm = std::move(process.comm),
          .engine = observed ? std::move(process.engine) : std::string(),
          .note = process_note_text(process.note),
          .ticks = process.ticks,
          .cpu_ns = process.cpu_ns};
}

/// Takes from the largest what the processes claim beyond the ledger: a tick raises its process before its
/// cell.
void balance_processes(Profile* profile) {
  const TickLedger& ledger = profile->ledger;
  uint64_t claimed = 0;
  for (const ProfileProcess& process : profile->processes) claimed += process.ticks;
  uint64_t excess = span_ns(ledger.counted + ledger.outside + ledger.full, claimed);
  if (excess == 0) return;
  if (profile->closed && excess > kTornTicks)
    profile->damage.push_back("the processes claim " + std::to_string(excess) +
                              " tick(s) more than there are");
  std::vector<size_t> order(profile->processes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    uint64_t first = profile->processes[a].ticks, second = profile->processes[b].ticks;
    return first != second ? first > second : a < b;
  });
  for (size_t index : order) {
    uint64_t taken = std::min(excess, profile->processes[index].ticks);
    profile->processes[index].ticks -= taken;
    excess -= taken;
  }
}

void add_processes(std::vector<FileProcess>& processes, Profile* profile) {
  std::sort(processes.begin(), processes.end(), [](const FileProcess& a, const FileProcess& b) {
    return std::tie(a.started_ns, a.pid, a.comm) < std::tie(b.started_ns, b.pid, b.comm);
  });
  for (FileProcess& process : processes) profile->processes.push_back(process_of(process));
  balance_processes(profile);
}

Profile profile_of(FileContents contents) {
  Profile profile;
  describe_run(contents.header, &profile);
  profile.command = std::move(contents.command);
  profile.damage = std::move(contents.damage);
  if (profile.period_ns == 0)
    profile.damage.push_back("the period is not known: ticks cannot be turned into seconds");
  std::vector<uint32_t> place = merge_objects(contents.objects, &profile);
  merge_cells(contents.cells, place, &profile);
  balance_ledger(contents.header.ledger, &profile);
  add_processes(contents.processes, &profile);
  return profile;
}

/// Opens a regular file without ever blocking on anything else.
Result<UniqueFd> open_regular(const char* path, uint64_t* bytes) {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path, strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return fail(errno, "cannot stat %s: %s", path, strerror(errno));
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, "%s is not a regular file", path);
  *bytes = static_cast<uint64_t>(status.st_size);
  return fd;
}

/// Bytes [from, to) of the file into their place; false on an error. Stops early where the file does.
bool read_part(int fd, uint64_t from, uint64_t to, Bytes* bytes) {
  if (bytes->size() < to) bytes->resize(to);
  while (from < to) {
    ssize_t got = pread(fd, bytes->data() + from, to - from, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    from += static_cast<uint64_t>(got);
  }
  if (from < to && from >= kHeaderBytes) bytes->resize(from);
  return true;
}

/// A copy of the part of the file that is in use. The header is read again after the rest, so that it is
/// never behind what the rest refers to.
Result<Bytes> snapshot(int fd, uint64_t file_bytes) {
  Bytes bytes;
  uint64_t header_bytes = std::min(file_bytes, kHeaderBytes);
  if (!read_part(fd, 0, header_bytes, &bytes)) return fail(errno, "cannot read: %s", strerror(errno));
  Result<FileHeader> header = read_file_header(bytes);
  if (!header) return std::unexpected(header.error());
  uint64_t used = std::min({file_bytes, kMostBytes, kHeaderBytes + kUnitBytes * header->pool.limit});
  if (!read_part(fd, kHeaderBytes, used, &bytes) || !read_part(fd, 0, kHeaderBytes, &bytes))
    return fail(errno, "cannot read: %s", strerror(errno));
  return bytes;
}

/// The recorder holds an exclusive lock on the file as long as it lives.
bool is_locked(int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return false;
}

}  // namespace

Result<Profile> load_profile(std::span<const unsigned char> bytes) {
  Result<FileContents> contents = read_file_contents(bytes);
  if (!contents) return std::unexpected(contents.error());
  return profile_of(std::move(*contents));
}

Result<Profile> load_profile(const char* path) {
  uint64_t file_bytes = 0;
  Result<UniqueFd> fd = open_regular(path, &file_bytes);
  if (!fd) return std::unexpected(fd.error());
  // Asked first: a recorder that ends after this has closed the file by the time its bytes are read.
  bool alive = is_locked(fd->get());
  Result<Bytes> bytes = snapshot(fd->get(), file_bytes);
  if (!bytes) return fail(bytes.error().code, "%s: %s", path, bytes.error().text);
  Result<Profile> profile = load_profile(*bytes);
  if (!profile) return fail(profile.error().code, "%s: %s", path, profile.error().text);
  profile->recorder_alive = alive && !profile->closed;
  return profile;
}

}  // namespace pctally
