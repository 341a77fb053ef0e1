#include "preload/unload_hook.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include <algorithm>

#include "base/next_call.h"

namespace pctally {
namespace {

void (*g_unloaded)(uintptr_t start, uintptr_t end) = nullptr;
constinit NextCall g_dlclose("dlclose", dlclose);

__attribute__((constructor)) void find_calls() noexcept { find_all(g_dlclose); }

struct Library {
  const link_map* map = nullptr;
  unsigned long long unloads = 0;          ///< of the process so far
  uintptr_t start = UINTPTR_MAX, end = 0;  ///< end 0: not found
};

int count_unloads(dl_phdr_info* object, size_t size, void* library) {
  constexpr size_t kSize = offsetof(dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs;
  static_cast<Library*>(library)->unloads = size >= kSize ? object->dlpi_subs : 0;
  return 1;
}

int find_memory(dl_phdr_info* object, size_t size, void* argument) {
  auto* library = static_cast<Library*>(argument);
  (void)count_unloads(object, size, argument);
  if (object->dlpi_addr != library->map->l_addr) return 0;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    library->start = std::min<uintptr_t>(library->start, object->dlpi_addr + segment.p_vaddr);
    library->end = std::max<uintptr_t>(library->end, object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  return 1;
}

}  // namespace

void set_unload_hook(void (*unloaded)(uintptr_t start, uintptr_t end)) noexcept { g_unloaded = unloaded; }

}  // namespace pctally

using namespace pctally;

/// A handle is the C library's link_map, which its own dlclose(3) reads as well.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  auto* next = g_dlclose.get();
  if (g_unloaded == nullptr) return next(handle);
  Library library{static_cast<const link_map*>(handle)}, after;
  dl_iterate_phdr(find_memory, &library);
  const int failed = next(handle);
  dl_iterate_phdr(count_unloads, &after);
  if (failed == 0 && library.end != 0 && after.unloads != library.unloads)
    g_unloaded(library.start, library.end);
  return failed;
}
