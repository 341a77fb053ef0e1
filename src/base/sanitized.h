// Tests that count and compare take ten times as long under a sanitizer: they do less there.
#pragma once

namespace pctally {

#ifdef PCTALLY_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace pctally
