// Whether this is compiled for AddressSanitizer or ThreadSanitizer: then it takes ten times as long, and has
// mapped most of the address space.
#pragma once

namespace pctally {

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace pctally
