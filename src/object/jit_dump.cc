#include "object/jit_dump.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/time_ns.h"
#include "object/elf/demangle.h"
#include "object/elf/regular_file.h"
#include "object/perf_map.h"

namespace pctally {
namespace {

constexpr uint32_t kMagic = 0x4a695444;  ///< "JiTD"
constexpr uint32_t kForeignMagic = 0x4454694a;
constexpr uint32_t kVersion = 1;
constexpr uint64_t kLargestDump = 1ull << 30;
constexpr size_t kMostRecords = 10'000'000;
constexpr size_t kMostCode = 4u << 20;
constexpr size_t kMostNameBytes = 256u << 20;
constexpr uint64_t kLargestFunction = 4u << 20;  ///< as of Symbolizer::code()
constexpr size_t kLargestLines = 16u << 20;      ///< record of the lines of a piece of code

enum class RecordKind : uint32_t { kLoad = 0, kMove = 1, kLines = 2 };

struct FileHead {
  uint32_t magic, version, total_bytes, machine, unused, pid;
  uint64_t timestamp, flags;
};
static_assert(sizeof(FileHead) == 40);

struct LoadBody {
  uint32_t pid, tid;
  uint64_t vma, address, bytes, index;
};
static_assert(sizeof(LoadBody) == 40);

struct MoveBody {
  uint32_t pid, tid;
  uint64_t vma, from, to, bytes, index;
};
static_assert(sizeof(MoveBody) == 48);

/// The body of a record JIT_CODE_DEBUG_INFO; its entries follow.
struct LinesBody {
  uint64_t address, entries;
};
static_assert(sizeof(LinesBody) == 16);

/// The script in a name of V8: "JS:*work /srv/app.js:12:15". Empty if it is none.
std::string_view script_of(std::string_view name) {
  constexpr std::string_view kKinds[] = {"JS:", "Script:", "Function:", "LazyCompile:", "Eval:"};
  if (std::ranges::none_of(kKinds, [name](std::string_view kind) { return name.starts_with(kind); }))
    return {};
  for (int number = 0; number < 2; ++number) {
    const size_t colon = name.find_last_not_of("0123456789");
    if (colon == std::string_view::npos || name[colon] != ':' || colon + 1 == name.size()) return {};
    name = name.substr(0, colon);
  }
  const size_t blank = name.find(' ');
  if (blank == std::string_view::npos) return {};
  name.remove_prefix(blank + 1);
  constexpr std::string_view kScheme = "file://";
  return name.starts_with(kScheme) ? name.substr(kScheme.size()) : name;
}

/// Fewer at the end of the file.
std::string copy_of(int fd, uint64_t at, size_t bytes) {
  std::string copied(bytes, '\0');
  size_t held = 0;
  while (held < bytes) {
    const ssize_t got = pread(fd, copied.data() + held, bytes - held, static_cast<off_t>(at + held));
    if (got <= 0) break;
    held += static_cast<size_t>(got);
  }
  copied.resize(held);
  return copied;
}

}  // namespace

struct JitDump::RecordHead {
  RecordKind kind;
  uint32_t total_bytes;  ///< with this head
  uint64_t timestamp;
};

/// Reads a file front to back through a small buffer.
class JitDump::Pieces {
 public:
  explicit Pieces(int fd) : fd_(fd), buffer_(size_t{64} << 10) {}

  /// The bytes from `at` on, `most` at most; fewer at the end of the file. Valid until the next call.
  std::span<const char> bytes(uint64_t at, size_t most) {
    if (at < start_ || at + most > start_ + held_) fill(at);
    const size_t held = at - start_ < held_ ? held_ - (at - start_) : 0;
    return {buffer_.data() + (at - start_), std::min(most, held)};
  }
  template <class Value>
  bool read(uint64_t at, Value* value) {
    const auto found = bytes(at, sizeof *value);
    if (found.size() != sizeof *value) return false;
    memcpy(value, found.data(), sizeof *value);
    return true;
  }
  [[nodiscard]] std::string copy(uint64_t at, size_t bytes) const { return copy_of(fd_, at, bytes); }

 private:
  void fill(uint64_t at) {
    start_ = at;
    const ssize_t got = pread(fd_, buffer_.data(), buffer_.size(), static_cast<off_t>(at));
    held_ = got < 0 ? 0 : static_cast<size_t>(got);
  }

  int fd_;
  std::vector<char> buffer_;
  uint64_t start_ = 0;
  size_t held_ = 0;
};

Result<JitDump> JitDump::read(const std::string& path, uint64_t started_unix_ns) {
  struct stat status;
  auto fd = open_regular(path, &status, LastLink::kRefuse);
  if (!fd) return std::unexpected(fd.error());
  if (is_older_than_process(to_ns(status.st_mtim), started_unix_ns))
    return fail(ESTALE, "%s is older than the process", path.c_str());
  return parse(fd->get(), path);
}

Result<JitDump> JitDump::parse(int fd, const std::string& path) {
  Pieces file(fd);
  FileHead head;
  if (!file.read(0, &head)) return fail(ENOEXEC, "%s is no jitdump", path.c_str());
  if (head.magic == kForeignMagic) return fail(EINVAL, "%s is of another byte order", path.c_str());
  if (head.magic != kMagic) return fail(ENOEXEC, "%s is no jitdump", path.c_str());
  if (head.version != kVersion || head.total_bytes < sizeof head)
    return fail(EINVAL, "%s is a jitdump of version %u; 1 is known", path.c_str(), head.version);
  JitDump dump;
  dump.file_.reset(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  dump.machine_ = static_cast<uint16_t>(head.machine);
  RecordHead record;
  uint64_t at = head.total_bytes;
  for (size_t i = 0; i < kMostRecords && at < kLargestDump && file.read(at, &record); ++i) {
    if (record.total_bytes < sizeof record || !dump.take_record(&file, at, record)) break;
    at += record.total_bytes;
  }
  dump.loaded_.clear();
  dump.announced_.clear();
  return dump;
}

/// False: there is no room for more.
bool JitDump::take_record(Pieces* file, uint64_t at, const RecordHead& head) {
  if (entries_.size() >= kMostCode) return false;
  if (head.kind == RecordKind::kLoad) return take_load(file, at, head);
  if (head.kind == RecordKind::kLines) return take_lines(file, at, head);
  return head.kind != RecordKind::kMove || take_move(file, at, head);
}

bool JitDump::take_load(Pieces* file, uint64_t at, const RecordHead& head) {
  constexpr size_t kFixed = sizeof head + sizeof(LoadBody);
  LoadBody body;
  if (head.total_bytes <= kFixed || !file->read(at + sizeof head, &body)) return true;
  const auto rest =
      file->bytes(at + kFixed, std::min<size_t>(head.total_bytes - kFixed, size_t{kLongestName} + 1));
  const size_t length = strnlen(rest.data(), rest.size());
  const bool is_cut = length == rest.size() && length <= kLongestName;  // no zero byte ends it
  if (is_cut || length == 0) return true;
  const size_t taken = std::min<size_t>(length, kLongestName);
  if (names_.size() + taken > kMostNameBytes) return false;
  const auto name = static_cast<uint32_t>(names_.size());
  names_.append(rest.data(), taken);
  loaded_[body.index] = static_cast<uint32_t>(entries_.size());
  const auto lines = announced_.extract(body.address);
  const uint64_t code = kFixed + length + 1;  // in the record
  const bool has_code =
      length == taken && body.bytes <= head.total_bytes && code <= head.total_bytes - body.bytes;
  add(body.address, body.bytes,
      {0, 0, head.timestamp, name, static_cast<uint32_t>(taken),
       lines.empty() ? JitLines::Table{} : lines.mapped(), has_code ? at + code : 0});
  return true;
}

/// Those of code that the next record of its address loads.
bool JitDump::take_lines(Pieces* file, uint64_t at, const RecordHead& head) {
  constexpr size_t kFixed = sizeof head + sizeof(LinesBody);
  LinesBody body;
  if (head.total_bytes <= kFixed || head.total_bytes > kLargestLines || !file->read(at + sizeof head, &body))
    return true;
  const JitLines::Table lines =
      lines_.add(file->copy(at + kFixed, head.total_bytes - kFixed), body.entries, body.address);
  if (lines.count != 0) announced_[body.address] = lines;
  return true;
}

bool JitDump::take_move(Pieces* file, uint64_t at, const RecordHead& head) {
  MoveBody body;
  if (head.total_bytes < sizeof head + sizeof body || !file->read(at + sizeof head, &body)) return true;
  const auto loaded = loaded_.find(body.index);
  if (loaded == loaded_.end()) return true;
  Entry entry = entries_[loaded->second];
  entry.timestamp = head.timestamp;
  if (body.bytes != entry.end - entry.start) entry.code = 0;
  add(body.to, body.bytes, entry);
  return true;
}

/// An entry without code stays empty: it has a name for moves.
void JitDump::add(uint64_t start, uint64_t bytes, Entry entry) {
  entry.start = start;
  entry.end = bytes > UINT64_MAX - start ? start : start + bytes;
  entries_.push_back(entry);
}

Cover JitDump::resolved(std::span<const uint64_t> addresses) const {
  Cover cover(addresses);
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].start < entries_[i].end) cover.add(entries_[i].start, entries_[i].end, i);
  cover.resolve([this](const Cover::Candidate& a, const Cover::Candidate& b) {
    return std::pair(entries_[a.id].timestamp, a.id) > std::pair(entries_[b.id].timestamp, b.id);
  });
  return cover;
}

std::vector<NamedRange> JitDump::name(std::span<const uint64_t> addresses) const {
  const Cover cover = resolved(addresses);
  std::vector<NamedRange> result;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Cover::Candidate* winner = cover.winner(i);
    if (winner == nullptr) {
      result.push_back(unnamed_jit(cover.cell(i)));
      continue;
    }
    const Entry& entry = entries_[winner->id];
    result.push_back({names_.substr(entry.name, entry.name_bytes), entry.start, entry.end});
  }
  return result;
}

std::vector<std::vector<Frame>> JitDump::frames(std::span<const uint64_t> addresses) const {
  const Cover cover = resolved(addresses);
  std::vector<std::vector<Frame>> result(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Cover::Candidate* winner = cover.winner(i);
    if (winner == nullptr) continue;
    const Entry& entry = entries_[winner->id];
    const auto place = lines_.find(entry.lines, addresses[i] - entry.start);
    if (!place) continue;
    std::string name = names_.substr(entry.name, entry.name_bytes);
    const std::string file(place->file.empty() ? script_of(name) : place->file);
    if (!file.empty()) result[i].push_back({std::move(name), file, place->line});
  }
  return result;
}

CodeBytes JitDump::code(uint64_t start, uint64_t end) const {
  const uint64_t first[] = {start};
  const Cover cover = resolved(first);
  const Cover::Candidate* winner = cover.winner(0);
  if (winner == nullptr) return {};
  const Entry& entry = entries_[winner->id];
  if (entry.start != start || entry.end != end || entry.code == 0 || end - start > kLargestFunction)
    return {};
  const std::string bytes = copy_of(file_.get(), entry.code, end - start);
  if (bytes.size() != end - start) return {};
  return {.address = start, .bytes = {bytes.begin(), bytes.end()}, .machine = machine_};
}

}  // namespace pctally
