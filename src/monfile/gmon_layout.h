// The bytes of a gmon.out of version 1, and what gprof can add up. After the header come records: a byte that
// says of which kind, then {low pc, high pc, number of counters, ticks per second, dimension} and the
// counters of a histogram, or {caller, function, calls} of an arc. Addresses are as wide as the program's.
#pragma once
#include <stdint.h>

namespace pctally {

struct GmonLayout {
  static constexpr char kMagic[4] = {'g', 'm', 'o', 'n'};
  static constexpr int32_t kVersion = 1;       ///< follows the magic
  static constexpr uint64_t kSpareBytes = 12;  ///< follow the version
  static constexpr uint64_t kHeaderBytes = sizeof kMagic + sizeof kVersion + kSpareBytes;
  static constexpr unsigned char kHistogram = 0, kArc = 1;  ///< kinds of records
  static constexpr char kDimension[16] = {'s', 'e', 'c', 'o', 'n', 'd', 's', 0, 0, 0, 0, 0, 0, 0, 0, 's'};

  static constexpr uint64_t kFinestWidth = 2;  ///< bytes of text per counter: gprof's unit
  static constexpr uint64_t kMostInCounter = UINT16_MAX;
  static constexpr uint64_t kMostInGprof = INT32_MAX;  ///< it adds up in an int
  static constexpr uint64_t kLongestGap = 16;          ///< zeros cheaper to write than another record's head
};

}  // namespace pctally
