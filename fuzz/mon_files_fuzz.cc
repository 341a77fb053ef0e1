// libFuzzer target: any bytes as mon.out and gmon.out of every kind of machine. What must hold: it ends, the
// memory follows the bytes, and the counters cover their range, equal parts exactly.
#include <cstdlib>

#include "monfile/read/gmon_out.h"
#include "monfile/read/mon_out.h"

using namespace pctally;

namespace {

void check(const Result<TextProfile>& read, size_t size) {
  if (!read) return;
  size_t counters = 0;
  for (const TextHistogram& text : read->histograms) {
    counters += text.counts.size();
    if (text.counts.empty() || text.low >= text.high || text.counts.size() > text.high - text.low) abort();
    const uint64_t end = text.start(text.counts.size());
    if (text.start(0) != text.low || (text.scale == 0 ? end != text.high : end < text.high)) abort();
  }
  if (counters > size / 2 || read->calls.size() > size / 8) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const unsigned char> bytes(data, size);
  for (bool wide : {false, true}) {
    check(read_gmon_out(bytes, wide), size);
    for (bool swapped : {false, true}) check(read_mon_out(bytes, {.wide = wide, .swapped = swapped}), size);
  }
  return 0;
}
