// AddressSanitizer and ThreadSanitizer: of this code, and of programs that are watched.
#pragma once

namespace pctally {

/// This code is compiled for one of them: it takes ten times as long, and has mapped most of
/// the address space.
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// What the recorder adds to ASAN_OPTIONS of a program it injects a library into; the library takes it out
/// again with --no-children.
inline constexpr char kSanitizerOption[] = ":verify_asan_link_order=0";

}  // namespace pctally
