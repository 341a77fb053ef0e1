// The page that web/ builds, as it is in page.html.
#pragma once
#include <cstddef>

namespace pctally {

extern const unsigned char kHtmlPage[];
extern const size_t kHtmlPageBytes;

}  // namespace pctally
