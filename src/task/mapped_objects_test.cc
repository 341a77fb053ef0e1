#include "task/mapped_objects.h"

#include <gtest/gtest.h>

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

class MappedObjectsTest : public testing::Test {
 protected:
  static ObjectIdentity file(const char* path, uint64_t inode = 1) {
    ObjectIdentity identity;
    identity.path = path;
    identity.inode = inode;
    return identity;
  }
  FreshFile fresh_;
  MappedObjects objects_{&fresh_.file()};
};

TEST_F(MappedObjectsTest, OneNumberForOneObject) {
  const uint32_t first = objects_.number_of(file("/a"));
  EXPECT_NE(first, 0u);
  EXPECT_EQ(objects_.number_of(file(std::string("/a").c_str())), first);
  EXPECT_NE(objects_.number_of(file("/b")), first);
  EXPECT_NE(objects_.number_of(file("/a", 2)), first);
  ObjectIdentity longer = file("/a");
  longer.file_bytes = 5;
  EXPECT_NE(objects_.number_of(longer), first);
  EXPECT_EQ(objects_.identity(first).path, "/a");
}

TEST_F(MappedObjectsTest, ASegmentIsFoundByWhatItCovers) {
  const uint32_t number = objects_.number_of(file("/a"));
  EXPECT_EQ(objects_.find_segment(number, {0, 0x10000}).unit, 0u);
  const MappedObjects::Segment made = objects_.add_segment(number, {0x10000, 0x20000});
  ASSERT_NE(made.unit, 0u);
  EXPECT_EQ(objects_.find_segment(number, {0x20000, 0x10000}).unit, made.unit);
  EXPECT_EQ(objects_.find_segment(number, {0x20000, 0x20000}).unit, 0u);
  EXPECT_EQ(objects_.find_segment(number, {0, 0x20000}).unit, 0u);
  EXPECT_EQ(objects_.segments(number).size(), 1u);
}

TEST_F(MappedObjectsTest, ForgetsWhatIsNotMappedAndHasNoSegment) {
  const uint32_t counted = objects_.number_of(file("/counted")), mapped = objects_.number_of(file("/mapped"));
  const uint32_t gone = objects_.number_of(file("/gone"));
  ASSERT_NE(objects_.add_segment(counted, {0, 0x10000}).unit, 0u);
  std::vector<bool> flags(objects_.end_number());
  flags[mapped] = true;
  objects_.forget_others(flags);
  EXPECT_EQ(objects_.size(), 2u);
  EXPECT_EQ(objects_.number_of(file("/counted")), counted);
  EXPECT_EQ(objects_.number_of(file("/mapped")), mapped);
  EXPECT_EQ(objects_.number_of(file("/fresh")), gone) << "its number is used again";
}

}  // namespace
}  // namespace pctally
