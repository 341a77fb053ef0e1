// What the tests of sprofil(2)'s page share: short calls, and regions of a text that is not there.
#pragma once
#include <errno.h>

#include <utility>
#include <vector>

#include "pctally/hpux.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {

inline constexpr unsigned kShort = PCTALLY_HPUX_USHORT, kInt = PCTALLY_HPUX_UINT, kLong = PCTALLY_HPUX_UINT64;

inline int sprofil(std::vector<pctally_hpux_prof> entries, unsigned flags = kShort, timeval* tick = nullptr) {
  return pctally_hpux_sprofil(entries.data(), static_cast<int>(entries.size()), tick, flags);
}

/// The errno of a call that has to fail, 0 of one that succeeds.
inline int error_of(std::vector<pctally_hpux_prof> entries, unsigned flags = kShort) {
  errno = 0;
  return sprofil(std::move(entries), flags) == 0 ? 0 : errno;
}

class HpuxPage : public Page {
 protected:
  void TearDown() override { pctally_hpux_sprofil(nullptr, 0, nullptr, kShort); }
  uint16_t a[64] = {}, b[64] = {}, rest[2] = {};
  pctally_hpux_prof region(void* cells, unsigned bytes, uintptr_t distance, unsigned scale) {
    return {cells, bytes, text(distance), scale};
  }
  pctally_hpux_prof overflow() { return {rest, 2, nullptr, 2}; }
};

}  // namespace pctally::manual
