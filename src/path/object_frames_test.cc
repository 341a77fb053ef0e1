#include "path/object_frames.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "process/proc_maps.h"

#if defined(__x86_64__)

namespace pctally {
namespace {

/// The first row above `position` is the end of its rule.
const UnwindRow& row_at(const std::vector<UnwindRow>& rows, uint64_t position) {
  const auto after = std::upper_bound(rows.begin(), rows.end(), position,
                                      [](uint64_t at, const UnwindRow& row) { return at < row.position; });
  return *std::prev(after);
}

/// The objects that are mapped here, and what of them.
template <class Visit>
void visit_objects(Visit&& visit) {
  ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind == ObjectKind::kPrivate) return;
    const bool is_vdso = mapping.object.kind == ObjectKind::kVdso;
    visit(*ObjectFrames::open(mapping.object), is_vdso ? 0 : mapping.file_offset, mapping.end - mapping.start,
          std::string(mapping.object.path));
  });
}

TEST(ObjectFrames, RowsSayWhatFindSays) {
  size_t objects = 0;
  visit_objects([&](const ObjectFrames& frames, uint64_t start, uint64_t bytes, const std::string& path) {
    const std::vector<UnwindRow> rows = frames.rows();
    ASSERT_FALSE(rows.empty()) << path;
    ++objects;
    size_t wrong = 0;
    const auto compare = [&](uint64_t position) {
      CfiFunction found;
      if (position < start || position >= start + bytes) return;
      (void)frames.find(position, &found);
      wrong += row_at(rows, position).rule == found.rule ? 0 : 1;
    };
    for (uint64_t at = start; at < start + bytes; at += 61) compare(at);
    for (size_t i = 0; i < rows.size(); i += 1 + rows.size() / 20000) {
      compare(rows[i].position);
      if (rows[i].position != 0) compare(rows[i].position - 1);
    }
    EXPECT_EQ(wrong, 0u) << path;
    EXPECT_GT(rows.size(), path == "[vdso]" ? 10u : 50u) << path;
  });
  EXPECT_GT(objects, 4u) << "libc, libstdc++, libm, ld.so, this program";
}

TEST(ObjectFrames, RowsAscendAndNeighboursDiffer) {
  visit_objects([](const ObjectFrames& frames, uint64_t, uint64_t, const std::string& path) {
    const std::vector<UnwindRow> rows = frames.rows();
    for (size_t i = 1; i < rows.size(); ++i) {
      ASSERT_LT(rows[i - 1].position, rows[i].position) << path;
      ASSERT_FALSE(rows[i - 1].rule == rows[i].rule) << path;
    }
  });
}

TEST(ObjectFrames, WithoutTablesThereAreNoRows) {
  EXPECT_TRUE(ObjectFrames::open(ObjectIdentity{})->rows().empty());
}

}  // namespace
}  // namespace pctally
#endif
