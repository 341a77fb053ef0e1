#include "monfile/read/gmon_out.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "monfile/gmon_layout.h"

namespace pctally {
namespace {

std::unexpected<Error> damaged(const char* why) { return fail(0, "damaged: %s", why); }

class Records {
 public:
  explicit Records(NumberReader reader) : reader_(reader) {}

  Result<void> read_all() {
    while (reader_.left() > 0) {
      auto tag = reader_.number<uint8_t>();
      Result<void> read = tag == GmonLayout::kHistogram ? read_histogram()
                          : tag == GmonLayout::kArc     ? read_arc()
                                                        : damaged("a record of a kind that is not known");
      if (!read) return read;
    }
    return {};
  }

  TextProfile take() {
    TextProfile profile;
    for (auto& [low, histogram] : histograms_) profile.histograms.push_back(std::move(histogram));
    for (const auto& [address, calls] : calls_) profile.calls.push_back({address, calls});
    profile.seconds_per_tick = hertz_ > 0 ? 1.0 / hertz_ : 0;
    return profile;
  }

 private:
  Result<void> read_histogram() {
    uint64_t low = reader_.word(), high = reader_.word();
    auto counters = reader_.number<int32_t>(), hertz = reader_.number<int32_t>();
    auto dimension = reader_.skip(sizeof GmonLayout::kDimension);
    if (!reader_.ok()) return damaged("it ends within a record");
    if (memcmp(dimension.data(), GmonLayout::kDimension, sizeof GmonLayout::kDimension) != 0)
      return fail(0, "its counters do not count seconds");
    if (hertz <= 0) return damaged("a rate of no ticks");
    if (hertz_ != 0 && hertz != hertz_) return fail(0, "it mixes rates of ticks; read its parts one by one");
    hertz_ = hertz;
    if (counters == 0) return {};
    if (counters < 0 || low >= high || static_cast<uint64_t>(counters) > high - low)
      return damaged("a range of no text");
    return add(low, high, static_cast<size_t>(counters));
  }

  /// The memory follows the bytes that are there, not the number that is claimed.
  Result<void> add(uint64_t low, uint64_t high, size_t counters) {
    if (reader_.left() / sizeof(uint16_t) < counters) return damaged("it ends within a record");
    auto next = histograms_.lower_bound(low);
    bool is_new = next == histograms_.end() || next->first != low;
    if (is_new && overlaps(next, low, high)) return damaged("ranges that overlap in part");
    TextHistogram& histogram = histograms_[low];
    if (is_new) histogram = {.low = low, .high = high, .counts = std::vector<uint64_t>(counters)};
    if (histogram.high != high || histogram.counts.size() != counters)
      return damaged("ranges that overlap in part");
    for (uint64_t& count : histogram.counts) count += reader_.number<uint16_t>();
    return {};
  }

  [[nodiscard]] bool overlaps(std::map<uint64_t, TextHistogram>::const_iterator next, uint64_t low,
                              uint64_t high) const {
    if (next != histograms_.end() && next->first < high) return true;
    return next != histograms_.begin() && std::prev(next)->second.high > low;
  }

  Result<void> read_arc() {
    (void)reader_.word();
    uint64_t function = reader_.word();
    auto calls = reader_.number<uint32_t>();
    if (!reader_.ok()) return damaged("it ends within a record");
    if (calls != 0) calls_[function] += calls;
    return {};
  }

  NumberReader reader_;
  std::map<uint64_t, TextHistogram> histograms_;  ///< by low; disjoint
  std::map<uint64_t, uint64_t> calls_;
  int32_t hertz_ = 0;
};

}  // namespace

bool is_gmon_out(std::span<const unsigned char> bytes) {
  return bytes.size() >= sizeof GmonLayout::kMagic &&
         memcmp(bytes.data(), GmonLayout::kMagic, sizeof GmonLayout::kMagic) == 0;
}

Result<TextProfile> read_gmon_out(std::span<const unsigned char> bytes, bool wide) {
  uint32_t version = 0;
  if (!is_gmon_out(bytes)) return fail(0, "not a gmon.out");
  if (!ByteReader(bytes).read(sizeof GmonLayout::kMagic, &version) || bytes.size() < GmonLayout::kHeaderBytes)
    return damaged("it ends within its header");
  bool swapped = version == std::byteswap(uint32_t{GmonLayout::kVersion});
  if (version != GmonLayout::kVersion && !swapped)
    return fail(0, "a gmon.out of a version that is not known (1 is)");
  Records records(NumberReader(bytes.subspan(GmonLayout::kHeaderBytes), {.wide = wide, .swapped = swapped}));
  if (auto read = records.read_all(); !read) return std::unexpected(read.error());
  return records.take();
}

}  // namespace pctally
