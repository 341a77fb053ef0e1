// Functions of an object in memory that keep the return address in its register and make no frame, known by
// their instructions. aarch64: Linux builds the vdso there without unwind tables, and its functions are such.
#pragma once
#include <stdint.h>

#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// True if the instruction of aarch64 may change the stack pointer or x30, but for what signs a return
/// address. Arm Architecture Reference Manual, C4.1: A64 instruction set encoding.
constexpr bool may_change_frame(uint32_t word) noexcept {
  constexpr uint32_t kLink = 30, kStack = 31;
  const uint32_t to = word & 31, base = word >> 5 & 31, second = word >> 10 & 31;
  const bool branches = (word >> 26 & 7) == 5,
             calls = word >> 26 == 0x25 || (word & 0xfefff000) == 0xd63f0000;
  const bool reads_system = (word & 0xfff00000) == 0xd5300000 && to == kLink;
  if (branches) return calls || reads_system;
  const bool adds = (word & 0x3f000000) == 0x11000000 || (word & 0x3fe00000) == 0x0b200000;
  const bool combines = (word & 0x1f800000) == 0x12000000 && word >> 29 != 3 && word >> 29 != 7;
  const bool of_pair = (word & 0x3a000000) == 0x28000000;
  const bool writes_back = of_pair ? (word >> 23 & 1) != 0
                                   : (word & 0x3b200400) == 0x38000400;  // before or after, of one register
  return to == kLink || (of_pair && second == kLink) || (writes_back && base == kStack) ||
         ((adds || combines) && to == kStack);
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

/// Of them, in the innermost frame.
inline constexpr UnwindRule kFramelessRule = {.cfa = CfaKind::kStack};

/// Offsets in the headers of a 64-bit ELF file. System V ABI, chapters 4 and 5.
namespace elf {
inline constexpr uint64_t kMachine = 18, kSections = 40, kSectionBytes = 64, kSectionCount = 60;
inline constexpr uint64_t kSectionType = 4, kSectionOffset = 24, kSectionSize = 32;
inline constexpr uint64_t kSymbolInfo = 4, kSymbolValue = 8, kSymbolSize = 16, kSymbolBytes = 24;
inline constexpr uint16_t kAarch64 = 183;
inline constexpr uint32_t kDynamicSymbols = 11;
inline constexpr uint8_t kFunction = 2;

template <class T>
T at(const unsigned char* from, uint64_t offset) noexcept {
  T value;
  __builtin_memcpy(&value, from + offset, sizeof value);
  return value;
}
}  // namespace elf

/// Of an ELF image in memory whose section headers lie at its end, as the vdso's do.
inline uint64_t bytes_of_image(const unsigned char* image) noexcept {
  return elf::at<uint64_t>(image, elf::kSections) +
         elf::kSectionBytes * elf::at<uint16_t>(image, elf::kSectionCount);
}

/// Of the functions among the dynamic symbols of that image, those without a frame; `base` is added to their
/// addresses, which count from its start. REQUIRES: all that it says of itself lies in bytes_of_image().
inline FramelessFunctions find_frameless(const unsigned char* image, uint64_t base) noexcept {
  FramelessFunctions found;
  const uint64_t sections = elf::at<uint64_t>(image, elf::kSections);
  if (elf::at<uint16_t>(image, elf::kMachine) != elf::kAarch64) return found;
  for (unsigned i = 0; i < elf::at<uint16_t>(image, elf::kSectionCount); ++i) {
    const unsigned char* section = image + sections + i * elf::kSectionBytes;
    if (elf::at<uint32_t>(section, elf::kSectionType) != elf::kDynamicSymbols) continue;
    const unsigned char* symbol = image + elf::at<uint64_t>(section, elf::kSectionOffset);
    const unsigned char* end = symbol + elf::at<uint64_t>(section, elf::kSectionSize);
    for (; symbol < end && found.count < FramelessFunctions::kMost; symbol += elf::kSymbolBytes) {
      const auto start = elf::at<uint64_t>(symbol, elf::kSymbolValue);
      const uint64_t behind = start + elf::at<uint64_t>(symbol, elf::kSymbolSize);
      bool is_frameless = (elf::at<uint8_t>(symbol, elf::kSymbolInfo) & 15) == elf::kFunction;
      for (uint64_t at = start; is_frameless && at < behind; at += 4)
        is_frameless = !may_change_frame(elf::at<uint32_t>(image, at));
      if (!is_frameless) continue;
      found.range[found.count].start = base + start;
      found.range[found.count++].end = base + behind;
    }
  }
  return found;
}

}  // namespace pctally
