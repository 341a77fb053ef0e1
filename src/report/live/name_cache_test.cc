#include "report/live/name_cache.h"

#include <gtest/gtest.h>

#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

/// Counts what it is asked.
struct Asked {
  unsigned opened = 0;
  std::vector<uint64_t> names, frames;
};

class CountingSymbolizer : public FakeSymbolizer {
 public:
  CountingSymbolizer(const ExecutableIdentity& identity, Asked* asked)
      : FakeSymbolizer(identity), asked_(asked) {
    ++asked->opened;
  }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    asked_->names.insert(asked_->names.end(), positions.begin(), positions.end());
    return FakeSymbolizer::find_names(positions);
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    asked_->frames.insert(asked_->frames.end(), positions.begin(), positions.end());
    return FakeSymbolizer::find_frames(positions);
  }

 private:
  Asked* asked_;
};

class NameCacheTest : public testing::Test {
 protected:
  std::unique_ptr<Symbolizer> open(const char* path, ExecutableIdentity::Kind kind,
                                   const char* build = "id") {
    ExecutableIdentity identity;
    identity.path = path;
    identity.kind = kind;
    identity.build_id.assign(build, build + 2);
    return cache_.open(identity);
  }

  Asked asked_;
  NameCache cache_{[this](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<CountingSymbolizer>(identity, &asked_);
  }};
};

TEST_F(NameCacheTest, AsksForEachPositionOnce) {
  using Positions = std::vector<uint64_t>;
  for (const Positions& positions :
       {Positions{0x100, 0x300}, Positions{0x100, 0x200, 0x300}, Positions{0x200}}) {
    auto symbolizer = open("/bin/a", ExecutableIdentity::Kind::kFile);
    std::vector<NamedRange> ranges = symbolizer->name(positions);
    std::vector<std::vector<Frame>> frames = symbolizer->frames(positions);
    ASSERT_EQ(ranges.size(), positions.size());
    for (size_t i = 0; i < positions.size(); ++i) {
      EXPECT_EQ(ranges[i].start, positions[i]);
      EXPECT_EQ(frames[i].at(0).function, ranges[i].function);
    }
    EXPECT_EQ(symbolizer->object_name(), "a");
  }
  EXPECT_EQ(asked_.opened, 1u);
  EXPECT_EQ(asked_.names, (Positions{0x100, 0x300, 0x200}));
  EXPECT_EQ(asked_.frames, (Positions{0x100, 0x300, 0x200}));
}

TEST_F(NameCacheTest, AnotherBuildIsAnotherObjectAndAJitsNamesAreNotKept) {
  open("/bin/a", ExecutableIdentity::Kind::kFile, "id");
  open("/bin/a", ExecutableIdentity::Kind::kFile, "di");
  EXPECT_EQ(asked_.opened, 2u);
  open("//anon", ExecutableIdentity::Kind::kPrivate);
  open("//anon", ExecutableIdentity::Kind::kPrivate);
  EXPECT_EQ(asked_.opened, 4u);
}

/// Of a merged file: each has its own addresses.
TEST_F(NameCacheTest, AKernelOfAnotherBootIsAnotherObject) {
  for (const uint8_t boot : {uint8_t{1}, uint8_t{2}, uint8_t{1}}) {
    ExecutableIdentity kernel;
    kernel.kind = ExecutableIdentity::Kind::kKernel;
    kernel.path = "[kernel]";
    kernel.boot_id = {boot};
    cache_.open(kernel);
  }
  EXPECT_EQ(asked_.opened, 2u);
}

}  // namespace
}  // namespace pctally
