#include "task/pool_shares.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

constexpr uid_t kOwn = 1000, kSecond = 2000000001, kThird = 2000000002, kFourth = 2000000003,
                kFifth = 2000000004;
constexpr uint64_t kPool = (kLargestBytes - kHeaderBytes) / kUnitBytes;

class PoolSharesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (fresh_.file().mapping().size() != kLargestBytes) GTEST_SKIP() << "the file does not grow here";
  }
  FreshFile fresh_;
  PoolShares shares_{&fresh_.file()};
};

TEST_F(PoolSharesTest, AUserMayTakeAQuarterOfThePool) {
  shares_.limit_users(kOwn);
  shares_.take(kSecond, kPool / 4);
  EXPECT_EQ(shares_.refusal_for(kSecond, 1), "[no room: user 2000000001]");
  EXPECT_EQ(shares_.refusal_for(kThird, kPool / 4), "");
  shares_.take(kUnknownUser, kPool / 4);
  EXPECT_EQ(shares_.refusal_for(kUnknownUser, 1), "[no room: unknown user]");
}

TEST_F(PoolSharesTest, UsersTogetherMayTakeThreeQuarters) {
  shares_.limit_users(kOwn);
  for (uid_t user : {kSecond, kThird, kFourth}) shares_.take(user, kPool / 4);
  EXPECT_EQ(shares_.refusal_for(kFifth, kPool / 4), kNoRoomForUsers);
}

TEST_F(PoolSharesTest, RootAndTheRecordersOwnAreNotLimited) {
  shares_.limit_users(kOwn);
  for (uid_t user : {uid_t{0}, kOwn}) {
    shares_.take(user, kPool);
    EXPECT_EQ(shares_.refusal_for(user, kPool), "");
  }
  EXPECT_EQ(shares_.refusal_for(kSecond, kPool / 4), "") << "and are not counted among the others";
}

TEST_F(PoolSharesTest, NobodyIsLimitedUnlessAsked) {
  shares_.take(kSecond, kPool);
  EXPECT_EQ(shares_.refusal_for(kSecond, kPool), "");
}

TEST(UserOf, IsTheRealUserOfTheProcess) {
  EXPECT_EQ(user_of(getpid()), getuid());
  EXPECT_EQ(user_of(1 << 23), kUnknownUser);
}

}  // namespace
}  // namespace pctally
