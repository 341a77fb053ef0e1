// Negative control: a variable that a lock guards, raised without it.
#include "base/mutex.h"

namespace pctally {

constinit Mutex g_mutex;
int g_count GUARDED_BY(g_mutex) = 0;

void raise_count() noexcept { ++g_count; }

}  // namespace pctally
