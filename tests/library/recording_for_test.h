// A process that records itself into a directory of its own, which goes at the end of the test.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "pctally/pctally.h"
#include "profile/load.h"

namespace pctally {

class RecordingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "library_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/a.pct";
    options_.path = path_.c_str();
  }
  void TearDown() override {
    pctally_stop();
    std::filesystem::remove_all(directory_);
  }
  Profile load() {
    auto profile = load_profile(path_.c_str());
    EXPECT_TRUE(profile) << profile.error().text;
    return profile ? *profile : Profile{};
  }

  std::string directory_, path_;
  pctally_options options_ = PCTALLY_OPTIONS_INIT;
};

}  // namespace pctally
