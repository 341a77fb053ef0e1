// Compares bin_index.h with the naive oracle over millions of rules and program counters. Needs no test
// framework, so the same sweep runs wherever a C++17 compiler does. Deterministic: the pseudo-random part has
// a fixed seed.
#pragma once
#include <stdint.h>

#include <initializer_list>

#include "tests/oracle/naive_index.h"

namespace naive {

inline constexpr uint64_t kTop = ~uint64_t{0};

/// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// Every order of magnitude equally often: 0 .. 2^bits - 1.
  uint64_t magnitude(unsigned bits) {
    uint64_t wanted = below(bits + 1);
    return wanted == 0 ? 0 : next() >> (64 - wanted);
  }

 private:
  uint64_t state_;
};

/// Runs the comparisons and keeps the first disagreement of each kind.
class IndexSweep {
 public:
  uint64_t cases = 0;       ///< program counters looked up
  uint64_t mismatches = 0;  ///< look-ups and ends that disagree
  pctally_bin_rule bad_rule{};
  uint64_t bad_pc = 0;

  /// One look-up.
  void check_pc(const pctally_bin_rule& rule, uint64_t pc) {
    uint64_t expected = 0, index = 0;
    bool counted = counts(rule, pc, &expected);
    bool found = pctally_bin_index(&rule, pc, &index) != 0;
    ++cases;
    if (counted != found || (counted && expected != index)) disagree(rule, pc);
  }

  /// The same distance from the bottom of the address space, and with the pc at or near its top.
  void check_distance(pctally_bin_rule rule, uint64_t distance) {
    rule.origin = 0;
    check_pc(rule, distance);
    rule.origin = kTop - distance - (distance < kTop - 7 ? distance & 7 : 0);
    check_pc(rule, rule.origin + distance);
  }

  /// Both sides of the region's two edges, and that pctally_bin_last names the upper one.
  void check_edges(const pctally_bin_rule& rule) {
    uint64_t room = kTop - rule.origin, index = 0;
    Wide end(0);
    bool ends = first_uncovered(rule, &end) && !(Wide(room) < end);
    uint64_t last = ends ? rule.origin + static_cast<uint64_t>(end) - 1 : kTop;
    if (pctally_bin_last(&rule) != last) disagree(rule, last);
    if (!pctally_bin_index(&rule, last, &index)) disagree(rule, last);
    if (last != kTop && pctally_bin_index(&rule, last + 1, &index)) disagree(rule, last + 1);
    for (uint64_t back = 0; back < 3 && back <= last; ++back) check_pc(rule, last - back);
    for (uint64_t on = 1; on < 3 && on <= kTop - last; ++on) check_pc(rule, last + on);
    check_pc(rule, rule.origin);
    if (rule.origin > 0) check_pc(rule, rule.origin - 1);
  }

  /// D where the product first needs more than 80 bits, so that the byte position needs more than 64.
  void check_overflow(const pctally_bin_rule& rule) {
    if (rule.scale == 0) return;
    Wide limit = reached_at<Wide>(Wide(uint64_t{1} << 63) * (1u << 17), rule.scale, 1);
    for (uint32_t step : {1u, bytes_per_counter(rule)})
      for (uint64_t near = 0; near < 3; ++near)
        if (!(Wide(kTop) < limit * step + Wide(near)))
          check_distance(rule, static_cast<uint64_t>(limit * step) + near);
  }

  /// Every D from 0 to 4096, all families and widths, for the scales that manuals mention
  /// and their neighbours.
  void small_distances() {
    for (uint32_t scale : kScales)
      each_shape(scale, [&](pctally_bin_rule rule) {
        for (uint64_t cells : {1, 5, 31, 1024}) {
          rule.cells = cells;
          for (uint64_t distance = 0; distance <= 4096; ++distance) {
            rule.origin = 0x400000;
            check_pc(rule, rule.origin + distance);
          }
          for (uint64_t origin : kOrigins) {
            rule.origin = origin;
            check_edges(rule);
          }
        }
      });
  }

  /// D around the powers of two where a product or a cast could break, for the same scales and huge buffers.
  void wide_distances() {
    for (uint32_t scale : kScales)
      each_shape(scale, [&](pctally_bin_rule rule) {
        for (unsigned bits : {16, 17, 31, 32, 33, 47, 48, 49, 52, 62, 63, 64})
          for (uint64_t cells :
               {uint64_t{32}, uint64_t{3} << 31, (uint64_t{1} << 48) - 1, (uint64_t{1} << 61) - 1}) {
            rule.cells = cells;
            uint64_t power = bits == 64 ? kTop : uint64_t{1} << bits;
            for (uint64_t near = 0; near < 40; ++near) {
              check_distance(rule, power - near);
              if (bits < 64) check_distance(rule, power + near);
            }
          }
      });
  }

  /// Every scale from 0 to 0x20001: its edges and a few distances of every size.
  void all_scales() {
    Random random(1);
    for (uint32_t scale = 0; scale <= 0x20001; ++scale)
      each_shape(scale, [&](pctally_bin_rule rule) {
        rule.cells = random.magnitude(24) * 2 + 1;
        rule.origin = random.below(4) == 0 ? kTop - random.magnitude(40) : random.magnitude(47);
        check_edges(rule);
        check_pc(rule, rule.origin + random.below(64));
        check_distance(rule, random.below(64));
        check_overflow(rule);
        check_distance(rule, random.magnitude(32));
        check_distance(rule, random.magnitude(64));
      });
  }

  /// Rules of any kind, flags included.
  void random_rules(uint64_t count) {
    Random random(2);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t draw = random.next();
      pctally_bin_rule rule{};
      rule.family = draw & 3;
      rule.cell_shift = static_cast<uint8_t>(1 + (draw >> 2) % 3);
      rule.shift = (draw >> 8) & 63;
      if ((draw >> 16) % 16 < 4) rule.flags = (draw >> 16) & 3;
      rule.scale = static_cast<uint32_t>(random.magnitude(32));
      rule.cells = random.magnitude(47);
      rule.origin = random.magnitude(64);
      if (rule.cells > 0) check_edges(rule);
      check_pc(rule, rule.origin + random.magnitude(64));  // may well wrap to below the origin
      check_pc(rule, rule.origin + random.magnitude(20));
    }
  }

  void everything() {
    small_distances();
    wide_distances();
    all_scales();
    random_rules(1'000'000);
  }

 private:
  static constexpr uint32_t kScales[] = {
      0,       1,       2,       3,          4,          5,         0xff,    0x100,   0x101,
      0x3fff,  0x4000,  0x4001,  0x7ffe,     0x7fff,     0x8000,    0x8001,  0xaaaa,  0xc000,
      0xc001,  0xfffe,  0xffff,  0x10000,    0x10001,    0x12345,   0x18000, 0x1ffff, 0x20000,
      0x20001, 0x3ffff, 0x40000, 0x7fffffff, 0x80000000, 0xffffffff};
  static constexpr uint64_t kOrigins[] = {
      0, 1, 0x400000, 0x7fffffffffff, 0xffffffff80000000, kTop - 8192, kTop - 64, kTop - 1, kTop};

  /// Families and widths for one scale; SHIFT takes its shift from the scale's low bits, which a
  /// sweep covers too.
  template <class Check>
  void each_shape(uint32_t scale, Check check) {
    pctally_bin_rule rule{};
    rule.scale = scale;
    for (uint8_t width : {1, 2, 3}) {
      rule.cell_shift = width;
      rule.family = PCTALLY_BIN_FLOOR;
      check(rule);
      rule.family = PCTALLY_BIN_MAN;
      check(rule);
    }
    rule.cell_shift = 1;
    rule.family = PCTALLY_BIN_ROUNDUP;
    check(rule);
    rule.family = PCTALLY_BIN_SHIFT;
    rule.shift = scale & 63;
    check(rule);
  }

  void disagree(const pctally_bin_rule& rule, uint64_t pc) {
    if (mismatches++ != 0) return;
    bad_rule = rule;
    bad_pc = pc;
  }
};

}  // namespace naive
