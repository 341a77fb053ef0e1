#include "preload/unload_hook.h"

#include <dlfcn.h>

#include "base/next_call.h"

namespace pctally {
namespace {

void (*g_unloaded)() = nullptr;
decltype(dlclose)* g_dlclose = nullptr;

}  // namespace

void set_unload_hook(void (*unloaded)()) noexcept { g_unloaded = unloaded; }

}  // namespace pctally

using namespace pctally;

extern "C" __attribute__((visibility("default"))) int dlclose(void* library) {
  auto* next = next_function("dlclose", &g_dlclose);
  const int failed = next(library);
  if (g_unloaded != nullptr) g_unloaded();
  return failed;
}
