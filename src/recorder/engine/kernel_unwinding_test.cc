#include "recorder/engine/kernel_unwinding.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bpf/unwind_lookup_for_test.h"
#include "path/object_frames.h"
#include "process/proc_maps.h"

#if defined(__x86_64__)

namespace pctally {
namespace {

// What the BPF program is given of this process's objects is what the recorder finds in them.
TEST(KernelUnwinding, TablesHaveTheRulesOfTheObjects) {
  std::vector<unsigned char> memory(PCTALLY_RULE_BYTES);
  RuleTables tables(memory.data());
  size_t objects = 0;
  ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind == ObjectKind::kPrivate) return;
    const auto frames = ObjectFrames::open(mapping.object);
    const uint32_t table = tables.add(frames->rows());
    const uint64_t start = mapping.object.kind == ObjectKind::kVdso ? 0 : mapping.file_offset;
    ASSERT_GT(table, 1u) << mapping.object.path;
    ++objects;
    size_t wrong = 0;
    for (uint64_t at = start; at < start + (mapping.end - mapping.start); at += 17) {
      CfiFunction found;
      (void)frames->find(at, &found);
      wrong += find_rule_in(memory.data(), table, at) == found.rule ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u) << mapping.object.path;
  });
  EXPECT_GT(objects, 4u) << "libc, libstdc++, libm, ld.so, this program";
  EXPECT_LT(tables.used(), size_t{4} << 20);
}

}  // namespace
}  // namespace pctally
#endif
