// libFuzzer target: any bytes as profile.proto. What must hold: fuzz/imported_profile.h.
#include "imported_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pctally;
  ImportedNames names;
  (void)is_pprof({data, size});
  check_imported(import_pprof({data, size}, "fuzz", &names));
  return 0;
}
