#include <errno.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "export/formats.h"
#include "monfile/gmon_layout.h"
#include "object/elf/elf_file.h"

namespace pctally {
namespace {

constexpr uint64_t kWidth = GmonLayout::kFinestWidth;
constexpr uint64_t kMostInCounter = GmonLayout::kMostInCounter;
constexpr uint64_t kLongestRecord = 4096;

/// Takes counts by ascending address. A record of a counter above kMostInCounter is repeated: gprof adds
/// equal ranges up.
class GmonWriter {
 public:
  GmonWriter(bool wide, uint32_t hertz) : wide_(wide), hertz_(hertz) {
    out_.append(GmonLayout::kMagic, sizeof GmonLayout::kMagic);
    number(GmonLayout::kVersion);
    out_.append(GmonLayout::kSpareBytes, '\0');
  }

  void add(uint64_t address, uint64_t count) {
    if (count > kMostInCounter) return repeat(address, count);
    const uint64_t at = counters_.empty() ? UINT64_MAX : (address - low_) / kWidth;
    if (at >= kLongestRecord || at > counters_.size() + GmonLayout::kLongestGap) finish();
    if (counters_.empty()) low_ = address;
    counters_.resize((address - low_) / kWidth);
    counters_.push_back(static_cast<uint16_t>(count));
  }

  std::string take() {
    finish();
    return std::move(out_);
  }

 private:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void address(uint64_t value) {
    if (wide_) return number(value);
    number(static_cast<uint32_t>(value));
  }

  void repeat(uint64_t address, uint64_t count) {
    finish();
    for (; count > kMostInCounter; count -= kMostInCounter) record(address, {kMostInCounter});
    record(address, {static_cast<uint16_t>(count)});
  }

  void record(uint64_t low, const std::vector<uint16_t>& counters) {
    number(GmonLayout::kHistogram);
    address(low);
    address(low + kWidth * counters.size());
    number(static_cast<uint32_t>(counters.size()));
    number(hertz_);
    out_.append(GmonLayout::kDimension, sizeof GmonLayout::kDimension);
    out_.append(reinterpret_cast<const char*>(counters.data()), 2 * counters.size());
  }

  void finish() {
    if (!counters_.empty()) record(low_, counters_);
    counters_.clear();
  }

  bool wide_;
  uint32_t hertz_;
  std::string out_;
  uint64_t low_ = 0;
  std::vector<uint16_t> counters_;
};

/// By address, of the object's ticks.
Result<std::map<uint64_t, uint64_t>> counts_of(const Profile& profile, uint32_t executable,
                                               const ElfFile& file) {
  std::map<uint64_t, uint64_t> counts;
  for (const WeightedPosition& position : profile.positions) {
    if (position.executable != executable) continue;
    const auto address = file.address(FileOffset{position.position});
    if (!address)
      return fail(EINVAL, "%s is not the file that ran: it loads nothing at 0x%llx",
                  profile.executables[executable].path.c_str(),
                  static_cast<unsigned long long>(position.position));
    counts[address->value / kWidth * kWidth] += position.ticks;
  }
  return counts;
}

/// A rate in whole hertz that is the period's to 1 %, and how often each tick counts at it: at a low one
/// several times, or gprof would show other seconds.
struct Rate {
  uint64_t factor = 1;
  uint32_t hertz = 1;
};

Rate rate_of(uint64_t period_ns) {
  const auto second = static_cast<double>(std::max<uint64_t>(period_ns, 1)) / 1e9;
  for (auto factor = std::max<uint64_t>(1, period_ns / 1'000'000'000);; ++factor) {
    const double exact = static_cast<double>(factor) / second, whole = std::max(1.0, std::round(exact));
    if (std::abs(exact - whole) <= 0.01 * exact) return {factor, static_cast<uint32_t>(whole)};
  }
}

}  // namespace

Result<std::string> gmon_export(const Profile& profile, uint32_t executable) {
  const Executable& object = profile.executables[executable];
  if (!profile.counts_cpu_time())
    return fail(EINVAL, "gmon.out holds CPU time, and this profile %s", profile.event.c_str());
  if (profile.runs.size() > 1 && profile.period_ns == 1)
    return fail(EINVAL, "the runs' periods differ, and a gmon.out has one; export them one by one");
  Result<ElfFile> file = ElfFile::open(object.path, Trust::kRootOrOurselves);
  if (!file) return std::unexpected(file.error());
  if (!object.build_id.empty() && !std::ranges::equal(file->build_id(), object.build_id))
    return fail(EINVAL, "%s has been rebuilt since: gmon.out needs the addresses of the file that ran",
                object.path.c_str());
  const auto counts = counts_of(profile, executable, *file);
  if (!counts) return std::unexpected(counts.error());
  const Rate rate = rate_of(profile.period_ns);
  GmonWriter writer(file->is_64_bit(), rate.hertz);
  for (const auto& [address, count] : *counts) {
    if (count > GmonLayout::kMostInGprof / rate.factor)
      return fail(EOVERFLOW, "%llu ticks at one address are more than gprof can add up",
                  static_cast<unsigned long long>(count));
    writer.add(address, count * rate.factor);
  }
  return writer.take();
}

}  // namespace pctally
