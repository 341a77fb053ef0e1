#include "histfile/chain.h"

#include <gtest/gtest.h>

#include "histfile/fresh_file_for_test.h"
#include "histfile/histogram.h"

namespace pctally {
namespace {

class Chain : public testing::Test {
 protected:
  Pool pool() { return file_.pool(); }
  ObjectRecord* object(uint32_t unit) { return pool_at<ObjectRecord>(pool(), unit); }
  uint32_t add(const char* path) {
    ObjectIdentity identity;
    identity.path = path;
    return find_or_add_object(file_, identity);
  }

  FreshFile fresh_;
  ProfileFile& file_ = fresh_.file();
};

TEST_F(Chain, AWalkEndsWhereTheVisitorSaysSo) {
  add_process(file_, 1, 0, "a", "");
  uint32_t second = add_process(file_, 2, 0, "b", "");
  add_process(file_, 3, 0, "c", "");
  unsigned visited = 0;
  uint32_t found = for_each_process(file_, 10, [&](const ProcessRecord& record, uint32_t) {
    ++visited;
    return record.pid == 2;
  });
  EXPECT_EQ(found, second);
  EXPECT_EQ(visited, 2u);
}

TEST_F(Chain, ARecordThatLinksToItselfEndsAWalkAtItsBound) {
  uint32_t unit = add_process(file_, 1, 0, "a", "");
  pool_at<ProcessRecord>(pool(), unit)->next = unit;
  uint32_t visited = 0;
  EXPECT_EQ(for_each_process(file_, 100, [&](const ProcessRecord&, uint32_t) { return ++visited == 0; }), 0u);
  EXPECT_EQ(visited, 100u);
}

TEST_F(Chain, ALinkOutOfThePoolEndsAWalk) {
  uint32_t unit = add_process(file_, 1, 0, "a", "");
  for (uint32_t link : {0u, ~0u, pool().head->limit, pool().head->limit - 1}) {
    pool_at<ProcessRecord>(pool(), unit)->next = link;
    uint32_t visited = 0;
    for_each_process(file_, 100, [&](const ProcessRecord&, uint32_t) { return ++visited == 0; });
    EXPECT_EQ(visited, 1u) << link;
  }
}

TEST_F(Chain, ObjectsAreAddedToAChainThatIsACircle) {
  uint32_t first = add("first");
  object(first)->next = first;
  uint32_t second = add("second");
  EXPECT_NE(second, 0u);
  EXPECT_NE(second, first);
}

TEST_F(Chain, SegmentsAreAddedToAChainThatIsACircle) {
  uint32_t unit = add("object");
  uint32_t first = find_or_add_segment(file_, unit, 0, 4096);
  pool_at<SegmentRecord>(pool(), first)->next = first;
  uint32_t second = find_or_add_segment(file_, unit, 1 << 20, 4096);
  EXPECT_NE(second, 0u);
  EXPECT_NE(second, first);
}

TEST_F(Chain, TwoObjectsWithOneHashStayTwo) {
  uint32_t first = add("first");
  FreshFile other;
  ObjectIdentity second;
  second.path = "second";
  uint32_t there = find_or_add_object(other.file(), second);
  object(first)->identity = pool_at<ObjectRecord>(other.file().pool(), there)->identity;
  uint32_t unit = find_or_add_object(file_, second);
  EXPECT_NE(unit, first) << "the hash finds, comparing decides";
  EXPECT_EQ(find_or_add_object(file_, second), unit) << "and is found again";
}

TEST_F(Chain, EveryPartOfAnObjectsIdentityCounts) {
  const uint8_t build_ids[2][20] = {{1}, {2}};
  std::vector<ObjectIdentity> identities(7);
  for (ObjectIdentity& identity : identities) identity.path = "same";
  identities[1].path = "sam";
  identities[2].kind = ObjectKind::kPrivate;
  identities[3].owner = 7;
  identities[4].inode = 7;
  identities[5].build_id = build_ids[0], identities[5].build_id_bytes = 20;
  identities[6].build_id = build_ids[1], identities[6].build_id_bytes = 20;
  std::vector<uint32_t> units;
  for (const ObjectIdentity& identity : identities) {
    for (uint32_t earlier : units)  // as if every hash were the same
      object(earlier)->identity = 0;
    units.push_back(find_or_add_object(file_, identity));
    uint64_t hash = object(units.back())->identity;
    for (uint32_t earlier : units) object(earlier)->identity = hash;
    EXPECT_EQ(find_or_add_object(file_, identity), units.back());
  }
}

TEST_F(Chain, OfAnObjectWithABuildIdDeviceAndInodeAreNotCompared) {
  const uint8_t build_id[20] = {1};
  ObjectIdentity identity;
  identity.path = "same";
  identity.build_id = build_id;
  identity.build_id_bytes = sizeof build_id;
  uint32_t unit = find_or_add_object(file_, identity);
  identity.inode = 9;
  EXPECT_EQ(find_or_add_object(file_, identity), unit);
}

}  // namespace
}  // namespace pctally
