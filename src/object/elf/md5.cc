#include "object/elf/md5.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace pctally {
namespace {

constexpr size_t kBlock = 64;

/// floor(2^32 · |sin(i + 1)|)
std::array<uint32_t, 64> sines() {
  std::array<uint32_t, 64> table{};
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<uint32_t>(std::ldexp(std::fabs(std::sin(static_cast<double>(i + 1))), 32));
  return table;
}

uint32_t little_endian(const unsigned char* at) {
  return at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16 | uint32_t{at[3]} << 24;
}

using State = std::array<uint32_t, 4>;

void add_block(const unsigned char* block, State* state) {
  static const std::array<uint32_t, 64> kSines = sines();
  constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  auto [a, b, c, d] = *state;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t mixed[4] = {(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)};
    const uint32_t word[4] = {i, 5 * i + 1, 3 * i + 5, 7 * i};
    const uint32_t round = i / 16;
    const uint32_t sum = a + mixed[round] + kSines[i] + little_endian(block + 4 * (word[round] % 16));
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[round][i % 4]);
  }
  *state = {(*state)[0] + a, (*state)[1] + b, (*state)[2] + c, (*state)[3] + d};
}

}  // namespace

Md5 md5_of(std::span<const unsigned char> bytes) {
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) add_block(bytes.data(), &state);
  unsigned char end[2 * kBlock] = {};
  memcpy(end, bytes.data(), bytes.size());
  end[bytes.size()] = 0x80;
  const size_t length = bytes.size() < kBlock - 8 ? kBlock : 2 * kBlock;
  for (size_t i = 0; i < 8; ++i) end[length - 8 + i] = static_cast<unsigned char>(bits >> (8 * i));
  for (size_t at = 0; at < length; at += kBlock) add_block(end + at, &state);
  Md5 digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (8 * (i % 4)));
  return digest;
}

}  // namespace pctally
