#include "profile/recordings.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

Profile recording(uint8_t id, uint64_t started = 0) {
  Profile profile;
  profile.recording_id[3] = id;
  profile.started_unix_ns = started;
  profile.ledger.counted = 40;
  return profile;
}

TEST(Recordings, OfOneIdAreOneWhateverElseDiffers) {
  Recordings recordings;
  ASSERT_TRUE(recordings.add(recording(1, 10), "a"));
  ASSERT_TRUE(recordings.add(recording(2, 10), "b"));
  const auto again = recordings.add(recording(1, 20), "c");
  ASSERT_FALSE(again);
  EXPECT_STREQ(again.error().text, "a and c are of one recording, which would count twice; leave one out");
}

TEST(Recordings, ARunOfASumIsOneToo) {
  Recordings recordings;
  Profile sum;
  sum.runs = {recording(1), recording(2)};
  ASSERT_TRUE(recordings.add(sum, "sum"));
  EXPECT_FALSE(recordings.add(recording(2), "b"));
  EXPECT_TRUE(recordings.add(recording(3), "c"));
}

TEST(Recordings, WithoutAnIdAreComparedByStartDurationAndTicks) {
  Recordings recordings;
  ASSERT_TRUE(recordings.add(recording(0, 10), "a"));
  EXPECT_TRUE(recordings.add(recording(0, 11), "b"));
  Profile more = recording(0, 10);
  more.ledger.counted = 41;
  EXPECT_TRUE(recordings.add(more, "c"));
  EXPECT_FALSE(recordings.add(recording(0, 10), "d"));
}

TEST(Recordings, OfWhichNothingIsKnownAreNotRefused) {
  Recordings recordings;
  ASSERT_TRUE(recordings.add(recording(0), "a"));
  EXPECT_TRUE(recordings.add(recording(0), "b"));
}

}  // namespace
}  // namespace pctally
