#include "monfile/write/mon_out.h"

#include <string.h>

namespace pctally {

void write_mon_out(MonFile* file, const MonHistogram& histogram, uint64_t base) noexcept {
  const MonHeader header{.low = static_cast<uintptr_t>(histogram.low - base),
                         .high = static_cast<uintptr_t>(histogram.high - base),
                         .call_counts = histogram.call_counts};
  file->append(&header, sizeof header);
  for (size_t i = 0; i < histogram.call_counts; ++i) {
    MonCallCount count;
    memcpy(&count, static_cast<const unsigned char*>(histogram.calls) + i * sizeof count, sizeof count);
    if (count.function != 0) count.function -= base;
    file->append(&count, sizeof count);
  }
  file->append(histogram.counters.data(), histogram.counters.size_bytes());
}

}  // namespace pctally
