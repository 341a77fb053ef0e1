// The protocol between a program's I/O thread and gperf: a stream of bytes, numbers big-endian. The manual
// page promises nothing on it.
//
//   gperf                     program
//   kRequest  --------------->                 a query only; in server mode the program begins by itself
//             <---------------  magic, segments, period in microseconds, overflow      4 bytes each
//             <---------------  text_start (8 bytes), counters (4), counters x 2 bytes     each segment
//   kReceived --------------->                 osProfileFlush() returns
//
// Refuses to do any I/O: channel.h does.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally::n64 {

inline constexpr uint8_t kRequest = 'q';
inline constexpr uint8_t kReceived = 'k';

inline constexpr uint32_t kMagic = 0x4e363450;  ///< "N64P"
inline constexpr size_t kHeaderBytes = 16;      ///< magic, segments, period, overflow
inline constexpr size_t kSegmentBytes = 12;     ///< text_start, counters
inline constexpr size_t kBlockBytes = 2048;     ///< of counters, in one send
inline constexpr uint32_t kMostSections = 4096;

inline void put_big_endian(uint8_t* to, uint64_t value, unsigned bytes) noexcept {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

inline uint64_t get_big_endian(const uint8_t* from, unsigned bytes) noexcept {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

}  // namespace pctally::n64
