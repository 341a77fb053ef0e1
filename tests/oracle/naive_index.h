// The index rule once more, transcribed from the manual pages' formulas in 128-bit arithmetic: what
// bin_index.h is compared with. Shares no expression with it; nothing is clever here, nothing is shifted.
// Refuses to be fast.
//
//   D = pc - offset, s = scale, E = bytes per counter, b = byte position in the buffer
//
//   FLOOR     b = floor(D*s / 65536), then b down to a multiple of E         counter b / E
//   MAN       -                                                              counter floor(floor(D/E)*s /
//   65536) ROUNDUP   b = floor(D*s / 65536), then b up to a multiple of 2           counter b / 2 SHIFT     -
//   counter floor(D / 2^k)
#pragma once
#include <stdint.h>

#include "tests/oracle/wide.h"
#include "tick/bin_index.h"

namespace naive {

inline uint32_t bytes_per_counter(const pctally_bin_rule& rule) {
  return rule.cell_shift == 3 ? 8 : rule.cell_shift == 2 ? 4 : 2;
}

template <class Number = Wide>
Number floor_counter(uint64_t distance, uint32_t scale, uint32_t element) {
  Number byte = Number(distance) * scale / 65536u;
  byte = byte / element * element;
  return byte / element;
}

template <class Number = Wide>
Number man_counter(uint64_t distance, uint32_t scale, uint32_t element) {
  return Number(distance / element) * scale / 65536u;
}

template <class Number = Wide>
Number roundup_counter(uint64_t distance, uint32_t scale) {
  Number byte = Number(distance) * scale / 65536u;
  byte = (byte + Number(1)) / 2u * 2u;
  return byte / 2u;
}

template <class Number = Wide>
Number shift_counter(uint64_t distance, unsigned shift) {
  for (; shift > 0; --shift) distance /= 2;
  return Number(distance);
}

template <class Number = Wide>
Number counter(const pctally_bin_rule& rule, uint64_t distance) {
  if (rule.family == PCTALLY_BIN_FLOOR)
    return floor_counter<Number>(distance, rule.scale, bytes_per_counter(rule));
  if (rule.family == PCTALLY_BIN_MAN)
    return man_counter<Number>(distance, rule.scale, bytes_per_counter(rule));
  if (rule.family == PCTALLY_BIN_ROUNDUP) return roundup_counter<Number>(distance, rule.scale);
  return shift_counter<Number>(distance, rule.shift);
}

/// True if the tick counts; *index is its counter then.
template <class Number = Wide>
bool counts(const pctally_bin_rule& rule, uint64_t pc, uint64_t* index) {
  Number found(0);
  if ((rule.flags & PCTALLY_BIN_ANY_PC) == 0) {
    if (pc < rule.origin) return false;
    if ((rule.flags & PCTALLY_BIN_SINGLE_CELL) == 0) found = counter<Number>(rule, pc - rule.origin);
  }
  if (!(found < Number(rule.cells))) return false;
  *index = static_cast<uint64_t>(found);
  return true;
}

/// The smallest multiple of `step` that is not below `target / rate`. REQUIRES: rate > 0.
template <class Number>
Number reached_at(Number target, uint32_t rate, uint32_t step) {
  return (target + Number(rate - 1)) / rate * step;
}

/// The smallest D that is not covered, solved for D by hand for each formula; false if every D is covered.
/// REQUIRES: 0 < cells < 2^48.
template <class Number = Wide>
bool first_uncovered(const pctally_bin_rule& rule, Number* distance) {
  uint32_t element = bytes_per_counter(rule);
  Number cells(rule.cells);
  if (rule.flags != 0) return false;
  if (rule.family > PCTALLY_BIN_ROUNDUP) {
    *distance = cells;
    for (unsigned i = 0; i < rule.shift; ++i) *distance = *distance * 2u;
    return true;
  }
  if (rule.scale == 0) return false;
  if (rule.family == PCTALLY_BIN_FLOOR)  // floor(D*s / 65536) >= cells * E
    *distance = reached_at<Number>(cells * element * 65536u, rule.scale, 1);
  else if (rule.family == PCTALLY_BIN_MAN)  // floor(D/E) * s >= cells * 65536
    *distance = reached_at<Number>(cells * 65536u, rule.scale, element);
  else  // floor(D*s / 65536) + 1 >= cells * 2, and cells * 2 - 1 == (cells - 1) * 2 + 1
    *distance = reached_at<Number>((Number(rule.cells - 1) * 2u + Number(1)) * 65536u, rule.scale, 1);
  return true;
}

}  // namespace naive
