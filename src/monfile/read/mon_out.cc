#include "monfile/read/mon_out.h"

#include <array>
#include <bit>

#include "monfile/mon_layout.h"
#include "monfile/mon_scale.h"

namespace pctally {
namespace {

constexpr uint64_t kWidest = 65536;  ///< bytes of text per counter, at the smallest scale

std::unexpected<Error> refused(const char* why) {
  return fail(0, "%s: not a mon.out, or not of this program's machine", why);
}

template <template <class> class Record>
constexpr size_t kWords = sizeof(Record<uint64_t>) / sizeof(uint64_t);

/// One of MonLayout's, word by word.
template <template <class> class Record>
Record<uint64_t> read_record(NumberReader* reader) {
  std::array<uint64_t, kWords<Record>> words;
  for (uint64_t& word : words) word = reader->word();
  return std::bit_cast<Record<uint64_t>>(words);
}

}  // namespace

Result<TextProfile> read_mon_out(std::span<const unsigned char> bytes, ByteLayout layout) {
  NumberReader reader(bytes, layout);
  const auto header = read_record<MonLayout::Header>(&reader);
  TextHistogram text{.low = header.low, .high = header.high, .counts = {}, .scale = 0};
  if (!reader.ok()) return refused("too short");
  if (text.low >= text.high) return refused("it ends before it begins");
  if (header.call_counts > reader.left() / (kWords<MonLayout::CallCount> * layout.word()))
    return refused("more call counts than bytes");
  TextProfile profile;
  for (uint64_t i = 0; i < header.call_counts; ++i) {
    const auto count = read_record<MonLayout::CallCount>(&reader);
    if (count.calls != 0) profile.calls.push_back({.address = count.function, .calls = count.calls});
  }
  const uint64_t counters = reader.left() / sizeof(MonLayout::Counter);
  if (reader.left() % sizeof(MonLayout::Counter) != 0) return refused("half a counter at its end");
  if (counters == 0) return refused("no counters");
  if (counters > text.high - text.low) return refused("more counters than text");
  if ((text.high - text.low) / counters > kWidest) return refused("too few counters for its text");
  const uint64_t scale = mon_scale(counters, text.high - text.low);
  if (counters * 2 <= text.high - text.low + 1)
    text.scale = scale;  // not another system's, with smaller ones
  text.counts.reserve(counters);
  while (reader.left() > 0) text.counts.push_back(reader.number<MonLayout::Counter>());
  profile.histograms.push_back(std::move(text));
  return profile;
}

}  // namespace pctally
