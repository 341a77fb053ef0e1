#include "tool/gperf/transfer.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "dialect/n64/channel.h"
#include "dialect/n64/socket.h"

namespace pctally {
namespace {

using namespace n64;

constexpr uint64_t kMostCounters = 1u << 28;  ///< 512 MB of them, for 1 GB of text

/// The pid in "n64.PID", or 0.
pid_t pid_of(const std::string& name) {
  pid_t pid = 0;
  std::string_view digits(name);
  if (!digits.starts_with(kProgramPrefix)) return 0;
  digits.remove_prefix(std::string_view(kProgramPrefix).size());
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return error == std::errc() && end == digits.data() + digits.size() ? pid : 0;
}

struct Found {
  GperfProgram program;
  timespec made{};
};

bool is_newer(const Found& a, const Found& b) {
  if (a.made.tv_sec != b.made.tv_sec) return a.made.tv_sec > b.made.tv_sec;
  if (a.made.tv_nsec != b.made.tv_nsec) return a.made.tv_nsec > b.made.tv_nsec;
  return a.program.pid > b.program.pid;
}

void collect_programs(const char* folder, std::vector<Found>* found) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    struct stat status;
    pid_t pid = pid_of(entry.path().filename());
    if (pid == 0 || lstat(entry.path().c_str(), &status) != 0) continue;
    if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) continue;
    auto connection = connect_to(entry.path().c_str());
    if (!connection && connection.error().code == ECONNREFUSED) unlink(entry.path().c_str());
    if (connection) found->push_back({{pid, entry.path()}, status.st_ctim});
  }
}

Result<void> receive_block(Channel& channel, std::vector<uint16_t>* counters, size_t count) {
  uint8_t bytes[kBlockBytes];
  if (!channel.receive(bytes, 2 * count))
    return fail(EPIPE, "the program broke off in the middle of its counters");
  for (size_t i = 0; i < count; ++i)
    counters->push_back(static_cast<uint16_t>(get_big_endian(bytes + 2 * i, 2)));
  return {};
}

/// Takes memory as the counters come, not as they are announced.
Result<GperfSegment> receive_segment(Channel& channel, uint64_t* room) {
  uint8_t header[kSegmentBytes];
  if (!channel.receive(header, sizeof header)) return fail(EPIPE, "the program broke off before a segment");
  GperfSegment segment{get_big_endian(header, 8), {}};
  uint64_t count = get_big_endian(header + 8, 4);
  if (count > *room) return fail(EMSGSIZE, "the program announces more counters than there can be");
  *room -= count;
  while (segment.counters.size() < count) {
    size_t step = std::min<size_t>(count - segment.counters.size(), kBlockBytes / 2);
    if (auto block = receive_block(channel, &segment.counters, step); !block)
      return std::unexpected(block.error());
  }
  return segment;
}

Result<GperfCounts> receive_all(Channel& channel) {
  uint8_t header[kHeaderBytes];
  if (!channel.receive(header, sizeof header)) return fail(ETIMEDOUT, "the program sent nothing");
  if (get_big_endian(header, 4) != kMagic)
    return fail(EPROTO, "the program has another version of libpctally: use the gperf that belongs to it");
  GperfCounts counts;
  uint64_t sections = get_big_endian(header + 4, 4), room = kMostCounters;
  counts.period_us = static_cast<uint32_t>(get_big_endian(header + 8, 4));
  counts.overflow = static_cast<uint32_t>(get_big_endian(header + 12, 4));
  if (sections > kMostSections)
    return fail(EMSGSIZE, "the program announces more segments than there can be");
  for (uint64_t i = 0; i < sections; ++i) {
    auto segment = receive_segment(channel, &room);
    if (!segment) return std::unexpected(segment.error());
    counts.segments.push_back(std::move(*segment));
  }
  return counts;
}

}  // namespace

std::vector<GperfProgram> gperf_programs() {
  std::vector<Found> found;
  for (unsigned number = 0; number < kDirectories; ++number) {
    char folder[sizeof sockaddr_un::sun_path];
    if (directory(number, folder)) collect_programs(folder, &found);
  }
  std::ranges::sort(found, is_newer);
  std::vector<GperfProgram> programs;
  for (Found& one : found) programs.push_back(std::move(one.program));
  return programs;
}

Result<GperfCounts> query(const GperfProgram& program) {
  auto connection = connect_to(program.socket.c_str());
  if (!connection) return std::unexpected(connection.error());
  return receive_counts(std::move(*connection), true);
}

Result<GperfCounts> receive_counts(UniqueFd connection, bool ask) {
  Channel channel(std::move(connection), {.step_ms = 5000, .total_ms = 60000});
  if (ask && !channel.send(kRequest)) return fail(EPIPE, "the program does not listen");
  auto counts = receive_all(channel);
  if (counts) channel.send(kReceived);
  return counts;
}

}  // namespace pctally
