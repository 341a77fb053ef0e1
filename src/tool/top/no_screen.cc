#include "tool/top/screen.h"

namespace pctally {

std::unique_ptr<Screen> Screen::open() { return nullptr; }

}  // namespace pctally
