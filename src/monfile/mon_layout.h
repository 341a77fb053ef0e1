// The bytes of a mon.out of System V, <mon.h>'s struct hdr and struct cnt: a header, the call counts, and
// counters to the end of the file. A word is as wide as the program's pointers and longs.
#pragma once
#include <stdint.h>

namespace pctally {

struct MonLayout {
  template <class Word>
  struct Header {
    Word low, high;  ///< the text that the counters are of
    Word call_counts;
  };
  template <class Word>
  struct CallCount {
    Word function;  ///< 0: the entry is free
    Word calls;
  };
  using Counter = uint16_t;
};
static_assert(sizeof(MonLayout::Header<uint32_t>) == 12 && sizeof(MonLayout::CallCount<uint32_t>) == 8);
static_assert(sizeof(MonLayout::Header<uint64_t>) == 24 && sizeof(MonLayout::CallCount<uint64_t>) == 16);

}  // namespace pctally
