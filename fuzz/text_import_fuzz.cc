// libFuzzer target: any text as what perf script prints, and as folded stacks. What
// must hold: fuzz/imported_profile.h.
#include "imported_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pctally;
  ImportedNames names;
  (void)is_perf_script(text_of(data, size));
  (void)is_folded(text_of(data, size));
  check_imported(import_perf_script(text_of(data, size), "fuzz", &names));
  check_imported(import_folded(text_of(data, size), "fuzz", &names));
  return 0;
}
