#include "monfile/read/mon_out.h"

#include "monfile/mon_scale.h"

namespace pctally {
namespace {

constexpr uint64_t kWidest = 65536;  ///< bytes of text per counter, at the smallest scale

std::unexpected<Error> refused(const char* why) {
  return fail(0, "%s: not a mon.out, or not of this program's machine", why);
}

}  // namespace

Result<TextProfile> read_mon_out(std::span<const unsigned char> bytes, ByteLayout layout) {
  NumberReader reader(bytes, layout);
  TextHistogram text{.low = reader.word(), .high = reader.word(), .counts = {}, .scale = 0};
  uint64_t functions = reader.word();
  if (!reader.ok()) return refused("too short");
  if (text.low >= text.high) return refused("it ends before it begins");
  if (functions > reader.left() / (2 * layout.word())) return refused("more call counts than bytes");
  TextProfile profile;
  for (uint64_t i = 0; i < functions; ++i) {
    CallCount count{.address = reader.word(), .calls = reader.word()};
    if (count.calls != 0) profile.calls.push_back(count);
  }
  uint64_t counters = reader.left() / sizeof(uint16_t);
  if (reader.left() % sizeof(uint16_t) != 0) return refused("half a counter at its end");
  if (counters == 0) return refused("no counters");
  if (counters > text.high - text.low) return refused("more counters than text");
  if ((text.high - text.low) / counters > kWidest) return refused("too few counters for its text");
  const uint64_t scale = mon_scale(counters, text.high - text.low);
  if (counters * 2 <= text.high - text.low + 1)
    text.scale = scale;  // not another system's, with smaller ones
  text.counts.reserve(counters);
  while (reader.left() > 0) text.counts.push_back(reader.number<uint16_t>());
  profile.histograms.push_back(std::move(text));
  return profile;
}

}  // namespace pctally
