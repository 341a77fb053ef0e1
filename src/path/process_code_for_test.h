// The code of this process, as the recorder's task table has it. For tests only.
#pragma once
#include "path/unwinder.h"
#include "process/address_space.h"
#include "process/proc_maps.h"

namespace pctally {

class ProcessCode : public CodeSpace {
 public:
  /// `unwinder`: Unwinder or PathRecorder.
  template <class Unwinding>
  ProcessCode(ProfileFile* file, Unwinding* unwinder) {
    ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
      if (mapping.object.kind == ObjectKind::kPrivate) return;
      const uint32_t segment = space_.map(*file, mapping);
      const auto* record = pool_at<SegmentRecord>(file->pool(), segment);
      unwinder->add_segment(segment, record->start, mapping.object);
    });
    table_ = space_.table(*file, 0);
  }
  bool find(uint64_t address, CodeAddress* found) override {
    uint64_t index = 0;
    const Region* region = find_region(table_, address, &index);
    if (region != nullptr) *found = {region->segment, index + region->tree_bias};
    return region != nullptr;
  }

 private:
  AddressSpace space_;
  RegionTable table_{};
};

}  // namespace pctally
