// Functions of an object in memory that keep the return address in its register and make no frame, known by
// their instructions. Linux builds the vdso of aarch64 without unwind tables. Its functions are such, but for
// new ones that need memory (getrandom): their ticks are cut.
//
// Every read is checked against the end of the image.
#pragma once
#include <stdint.h>

#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// True unless an instruction of aarch64 is known to leave the stack pointer and x30 alone; it may sign x30.
/// Known are those that compilers write. Arm Architecture Reference Manual, C4.1: A64 instruction set
/// encoding.
constexpr bool may_change_frame(uint32_t word) noexcept {
  constexpr uint32_t kLink = 30, kStack = 31;
  const uint32_t to = word & 31, base = word >> 5 & 31, second = word >> 10 & 31, group = word >> 25 & 15;
  const auto is = [word](uint32_t mask, uint32_t value) { return (word & mask) == value; };
  if ((group & 14) == 10) {  // branches and the system's
    const bool calls = is(0xfc000000, 0x94000000) || is(0xfefff000, 0xd63f0000);
    return calls || (is(0xffe00000, 0xd5200000) && to == kLink);
  }
  if ((group & 5) == 4) {  // loads and stores
    const bool of_one = is(0x3b000000, 0x39000000) || is(0x3b200c00, 0x38000000) ||
                        is(0x3b200c00, 0x38200800) || is(0x3b000000, 0x18000000) ||
                        is(0x3ffffc00, 0x08dffc00);
    const bool of_pair = is(0x3b800000, 0x29000000);
    const bool moves_base =
        is(0x3b200400, 0x38000400) || is(0x3b800000, 0x28800000) || is(0x3b800000, 0x29800000);
    const bool pair = is(0x3a000000, 0x28000000);
    if (to == kLink || (pair && second == kLink)) return true;
    return !of_one && !of_pair && !(moves_base && base < kLink);
  }
  if ((group & 14) != 8 && (group & 7) != 5 && (group & 7) != 7) return true;  // not of general registers
  const bool adds = is(0x3f000000, 0x11000000) || is(0x3fe00000, 0x0b200000);
  const bool combines = is(0x1f800000, 0x12000000) && word >> 29 != 3 && word >> 29 != 7;
  const bool is_newer = is(0xffe0fc00, 0x9ac01000) || is(0xbfe0e000, 0x9a002000);  // irg, addpt and subpt
  return to == kLink || ((adds || combines || is_newer) && to == kStack);
}

/// [start, end) of addresses.
struct FramelessFunctions {
  static constexpr unsigned kMost = 8;
  struct {
    uint64_t start = 0, end = 0;
  } range[kMost];
  unsigned count = 0;

  [[nodiscard]] bool holds(uint64_t address) const noexcept {
    for (unsigned i = 0; i < count; ++i)
      if (address >= range[i].start && address < range[i].end) return true;
    return false;
  }
};

/// A 64-bit ELF image in memory. System V ABI, chapters 4 and 5.
class ElfImage {
 public:
  ElfImage(const unsigned char* image, uint64_t bytes) : image_(image), bytes_(bytes) {}

  /// False if it does not lie within the image.
  template <class T>
  bool read(uint64_t offset, T* value) const noexcept {
    if (offset > bytes_ || bytes_ - offset < sizeof *value) return false;
    __builtin_memcpy(value, image_ + offset, sizeof *value);
    return true;
  }

  /// Calls visit(start, end) for the functions among the dynamic symbols that have instructions in the image.
  template <class Visit>
  void visit_functions(Visit&& visit) const noexcept {
    constexpr uint64_t kSections = 40, kSectionBytes = 64, kCount = 60, kSize = 32, kOffset = 24;
    constexpr uint32_t kDynamicSymbols = 11;
    uint64_t sections = 0, symbols = 0, size = 0;
    uint16_t count = 0;
    if (!read(kSections, &sections) || !read(kCount, &count)) return;
    for (unsigned i = 0; i < count; ++i) {
      const uint64_t section = sections + i * kSectionBytes;
      uint32_t type = 0;
      if (!read(section + 4, &type) || type != kDynamicSymbols || !read(section + kOffset, &symbols) ||
          !read(section + kSize, &size) || size > bytes_)
        continue;
      visit_symbols(symbols, size, visit);
    }
  }

  /// Where its last segment ends.
  [[nodiscard]] uint64_t end_of_segments() const noexcept {
    constexpr uint64_t kSegments = 32, kSegmentBytes = 56, kCount = 56, kOffset = 8, kSize = 32;
    constexpr uint32_t kLoad = 1;
    uint64_t segments = 0, end = 0, offset = 0, size = 0;
    uint16_t count = 0;
    if (!read(kSegments, &segments) || !read(kCount, &count)) return 0;
    for (unsigned i = 0; i < count; ++i) {
      const uint64_t segment = segments + i * kSegmentBytes;
      uint32_t type = 0;
      if (!read(segment, &type) || type != kLoad || !read(segment + kOffset, &offset) ||
          !read(segment + kSize, &size))
        continue;
      if (offset + size > end) end = offset + size;
    }
    return end;
  }

 private:
  template <class Visit>
  void visit_symbols(uint64_t symbols, uint64_t size, Visit&& visit) const noexcept {
    constexpr uint64_t kSymbolBytes = 24, kInfo = 4, kValue = 8, kSize = 16;
    constexpr uint8_t kFunction = 2;
    for (uint64_t at = 0; at < size; at += kSymbolBytes) {
      uint8_t info = 0;
      uint64_t start = 0, bytes = 0;
      if (!read(symbols + at + kInfo, &info) || !read(symbols + at + kValue, &start) ||
          !read(symbols + at + kSize, &bytes))
        return;
      const bool fits = bytes != 0 && start <= bytes_ && bytes <= bytes_ - start && (start | bytes) % 4 == 0;
      if ((info & 15) == kFunction && fits) visit(start, start + bytes);
    }
  }

  const unsigned char* image_;
  uint64_t bytes_;
};

/// The functions of the image of `bytes` bytes; `base` is added to their addresses, which count from its
/// start.
inline FramelessFunctions find_frameless(const unsigned char* image, uint64_t bytes, uint64_t base) noexcept {
  constexpr uint64_t kMachine = 18;
  constexpr uint16_t kAarch64 = 183;
  const ElfImage elf(image, bytes);
  FramelessFunctions found;
  uint16_t machine = 0;
  if (!elf.read(kMachine, &machine) || machine != kAarch64) return found;
  elf.visit_functions([&](uint64_t start, uint64_t end) {
    uint32_t word = 0;
    if (found.count == FramelessFunctions::kMost) return;
    for (uint64_t at = start; at < end; at += sizeof word)
      if (!elf.read(at, &word) || may_change_frame(word)) return;
    found.range[found.count].start = base + start;
    found.range[found.count++].end = base + end;
  });
  return found;
}

}  // namespace pctally
