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

// Containers of one image come without end.
TEST_F(MappedObjectsTest, ABuildIdIsOneObjectInEachRoot) {
  const uint8_t id[] = {1, 2, 3};
  const auto with_id = [&id](const char* path, uint64_t inode) {
    ObjectIdentity identity = file(path, inode);
    identity.build_id = id;
    identity.build_id_bytes = sizeof id;
    return identity;
  };
  const uint32_t number = objects_.number_of(with_id("/proc/12/root/lib/libc.so.6", 1));
  EXPECT_EQ(objects_.number_of(with_id("/proc/345/root/lib/libc.so.6", 2)), number);
  EXPECT_EQ(objects_.identity(number).path, "/proc/345/root/lib/libc.so.6") << "the other may be gone";
  EXPECT_EQ(objects_.identity(number).inode, 2u);
  EXPECT_NE(objects_.number_of(with_id("/proc/345/root/lib/libm.so.6", 2)), number);
  EXPECT_NE(objects_.number_of(with_id("/proc/345/roots/lib/libc.so.6", 2)), number);
  ASSERT_NE(objects_.add_segment(number, {0, 0x10000}).unit, 0u);
  const uint32_t other = objects_.number_of(with_id("/proc/6/root/lib/libc.so.6", 3));
  EXPECT_NE(other, number) << "its file is not held";
  EXPECT_EQ(objects_.number_of(with_id("/proc/345/root/lib/libc.so.6", 2)), number);
  objects_.set_held(number);
  EXPECT_EQ(objects_.number_of(with_id("/proc/7/root/lib/libc.so.6", 3)), number);
  EXPECT_EQ(objects_.number_of(with_id("/lib/libc.so.6", 4)), number);
  EXPECT_EQ(objects_.identity(number).path, "/proc/345/root/lib/libc.so.6");
}

TEST_F(MappedObjectsTest, AFileWithoutABuildIdIsAnotherInEachRoot) {
  const uint32_t number = objects_.number_of(file("/proc/12/root/bin/a"));
  EXPECT_NE(objects_.number_of(file("/proc/345/root/bin/a")), number);
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
