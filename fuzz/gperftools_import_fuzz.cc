// libFuzzer target: any bytes as a CPU profile of gperftools. What must hold: fuzz/imported_profile.h.
#include "imported_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pctally;
  ImportedNames names;
  check_imported(import_gperftools({data, size}, "fuzz", &names));
  return 0;
}
