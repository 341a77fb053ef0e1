// Looks a rule up as find_rule() of path.bpf.h does. For tests only.
#pragma once
#include <string.h>

#include "bpf/unwind_tables.h"

namespace pctally {

template <class T>
T read_at(const unsigned char* memory, uint64_t at) {
  T value;
  memcpy(&value, memory + at, sizeof value);
  return value;
}

inline UnwindRule find_rule_in(const unsigned char* memory, uint32_t table, uint64_t position) {
  UnwindRule found;
  if (table == PCTALLY_TABLE_NONE) return found;
  const auto head = read_at<pctally_rules>(memory, table);
  if (position < head.first) return found;
  const uint64_t page = (position - head.first) >> 12;
  const auto index = [&](uint64_t number) { return read_at<uint32_t>(memory, head.index + number * 4); };
  const auto row = [&](uint64_t number) { return read_at<uint32_t>(memory, head.rows + number * 4); };
  uint32_t low = index(page < head.pages ? page : head.pages),
           end = page < head.pages ? index(page + 1) : low;
  while (low < end && row(low) >> 16 <= ((position - head.first) & 0xfff)) ++low;
  if (low == 0) return found;
  const auto rule =
      read_at<pctally_rule>(memory, head.rules + (row(low - 1) & 0xffff) * sizeof(pctally_rule));
  found.cfa = static_cast<CfaKind>(rule.cfa);
  found.frame = static_cast<FrameKind>(rule.frame);
  found.base = static_cast<FrameKind>(rule.base);
  found.cfa_words = rule.cfa_words;
  found.add_words = rule.add_words;
  found.frame_words = rule.frame_words;
  found.base_words = rule.base_words;
  return found;
}

}  // namespace pctally
