// Bytes of a perf ring: the kernel writes them, but a parser must not rely on that.
#include <cstddef>
#include <cstdint>

#include "perf/record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool stack = (data[size - 1] & 1) != 0;
  pctally::PerfRecord record = pctally::parse_perf_record(data, size, stack);
  uint64_t sum = record.build_id_bytes;
  for (unsigned char byte : record.stack) sum += byte;
  for (unsigned char byte : record.kernel_calls) sum += byte;
  for (char c : record.text) sum += static_cast<unsigned char>(c);
  if (record.build_id_bytes > sizeof record.build_id || sum == ~uint64_t{0}) __builtin_trap();
  return 0;
}
