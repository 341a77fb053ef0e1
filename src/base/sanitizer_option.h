// What the recorder adds to ASAN_OPTIONS of a program it injects a library into; the library takes it out
// again with
// --no-children.
#pragma once

namespace pctally {

inline constexpr char kSanitizerOption[] = ":verify_asan_link_order=0";

}  // namespace pctally
