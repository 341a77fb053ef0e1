// What code looks like around a return address: a call instruction lies before it.
#pragma once
#include <stdint.h>

namespace pctally {

/// What a return address leads to.
enum class ReturnsTo : uint8_t {
  kNoCall,       ///< it is none: no call instruction lies before it
  kCaller,       ///< behind a call
  kGoroutineEnd  ///< where no call has been: a goroutine starts with this address on its stack
};

#if defined(__aarch64__)
inline constexpr unsigned kGoroutineEndBefore = 4, kGoroutineEndBytes = 8;
#else
inline constexpr unsigned kGoroutineEndBefore = 1, kGoroutineEndBytes = 7;
#endif

/// Is this runtime.goexit of Go: nop; call? `bytes`: from the nop on, behind which the return address of the
/// goroutine's first function is. Go, src/runtime/asm_amd64.s, asm_arm64.s.
inline bool is_goroutine_end(const unsigned char (&bytes)[kGoroutineEndBytes]) noexcept {
#if defined(__aarch64__)
  uint32_t words[2];
  __builtin_memcpy(words, bytes, sizeof words);
  constexpr uint32_t kMoveToItself = 0xaa0003e0;
  return words[0] == kMoveToItself && (words[1] & 0xfc000000) == 0x94000000;
#elif defined(__x86_64__)
  constexpr unsigned char kNop = 0x90, kCall = 0xe8;
  return bytes[0] == kNop && bytes[1] == kCall && bytes[6] == kNop;
#else
  (void)bytes;
  return false;
#endif
}

#if defined(__aarch64__)

inline constexpr unsigned kLongestCall = 4;

/// No path of this machine asks.
inline bool ends_in_call_of(const unsigned char (&)[kLongestCall], uint64_t, uint64_t) noexcept {
  return false;
}

/// bl; or blr, with or without pointer authentication.
inline bool ends_in_call(const unsigned char (&bytes)[kLongestCall]) noexcept {
  uint32_t word;
  __builtin_memcpy(&word, bytes, sizeof word);
  const bool direct = (word & 0xfc000000) == 0x94000000;
  const bool indirect = (word & 0xfffffc1f) == 0xd63f0000;
  const bool authenticated = (word & 0xfefff800) == 0xd63f0800;
  return direct || indirect || authenticated;
}

#else

inline constexpr unsigned kLongestCall = 8;  ///< with a segment or notrack prefix

/// Bytes of ModRM, SIB and displacement of `ff /2` (call near, absolute indirect), or of `ff /3`; 0 if
/// it is neither, or if its `most` bytes do not hold the first two.
constexpr unsigned call_operand_bytes(const unsigned char* operand, unsigned most) noexcept {
  const unsigned mode = operand[0] >> 6, kind = operand[0] >> 3 & 7, base = operand[0] & 7;
  if (kind != 2 && kind != 3) return 0;
  if (mode == 3) return 1;
  const bool indexed = base == 4;
  if (indexed && most < 2) return 0;
  const unsigned bytes = indexed ? 2 : 1;
  if (mode == 1) return bytes + 1;
  if (mode == 2) return bytes + 4;
  const bool absolute = indexed ? (operand[1] & 7) == 5 : base == 5;
  return absolute ? bytes + 4 : bytes;
}

/// Is it a direct call of the code at `target`? `back`: its return address.
inline bool ends_in_call_of(const unsigned char (&bytes)[kLongestCall], uint64_t back,
                            uint64_t target) noexcept {
  int32_t distance;
  __builtin_memcpy(&distance, bytes + kLongestCall - sizeof distance, sizeof distance);
  return bytes[kLongestCall - 5] == 0xe8 && back + static_cast<uint64_t>(int64_t{distance}) == target;
}

constexpr bool ends_in_call(const unsigned char (&bytes)[kLongestCall]) noexcept {
  constexpr unsigned char kRelative = 0xe8, kIndirect = 0xff;
  if (bytes[kLongestCall - 5] == kRelative) return true;
  for (unsigned length = 2; length <= 7; ++length) {
    const unsigned char* start = bytes + kLongestCall - length;
    if (start[0] == kIndirect && call_operand_bytes(start + 1, length - 1) == length - 1) return true;
  }
  return false;
}

#endif

}  // namespace pctally
