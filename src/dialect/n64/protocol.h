// What passes between a program's I/O thread and gperf: 32-bit packets, as on the development board.
//
//   |31      26|25     24|23       16|15        8|7         0|     big-endian; at most three bytes of data
//   each |   type   |  length |                data               |
//
//   gperf                     program
//   FLUSH  ------------------>                 (query; in server mode the program begins by itself)
//          <------------------  sections, period in microseconds, overflow      words of 4 bytes
//          <------------------  text_start (8 bytes: addresses are wider now), counters (4 bytes)  }
//   ACK    ------------------>                                                                     }  each
//          <------------------  counters, 2 bytes each, at most 2048 bytes       }  each           }  section
//   ACK    ------------------>                                                   }  block          }
//
// Refuses to do any I/O: n64_channel.h does.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pctally::n64 {

inline constexpr unsigned kTypeSignal = 21;  ///< gperf to program; the first byte of data says which signal
inline constexpr unsigned kTypeData = 22;    ///< program to gperf

inline constexpr uint8_t kAck = 1;
inline constexpr uint8_t kFlush = 2;

inline constexpr size_t kBlockBytes = 2048;
inline constexpr size_t kPacketBytes = 4;
inline constexpr size_t kPacketData = 3;
inline constexpr size_t kHeaderBytes = 12;  ///< sections, period, overflow; also text_start and counters
inline constexpr uint32_t kMostSections = 4096;

struct Packet {
  uint8_t bytes[kPacketBytes];

  [[nodiscard]] unsigned type() const noexcept { return bytes[0] >> 2; }
  [[nodiscard]] unsigned length() const noexcept { return bytes[0] & 3; }
};

/// REQUIRES: length <= 3.
inline Packet make_packet(unsigned type, const uint8_t* data, size_t length) noexcept {
  Packet packet{{static_cast<uint8_t>(type << 2 | length), 0, 0, 0}};
  for (size_t i = 0; i < length; ++i) packet.bytes[1 + i] = data[i];
  return packet;
}

inline void put_big_endian(uint8_t* to, uint64_t value, unsigned bytes) noexcept {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

inline uint64_t get_big_endian(const uint8_t* from, unsigned bytes) noexcept {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

}  // namespace pctally::n64
