#include "perf/refusal.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string.h>

#include "perf/ring.h"

namespace pctally {
namespace {

using ::testing::StartsWith;

// A user's recordings share one limit of locked memory: mmap(2) says EPERM beyond it, too.
TEST(Refusal, MemoryThatIsRefusedIsNotTheCall) {
  const auto map = fail(EPERM, "cannot map 8192 bytes: %s", strerror(EPERM)).error();
  EXPECT_FALSE(is_of_opening(map));
  EXPECT_EQ(explain_refusal(map).reason,
            "cannot map 8192 bytes: Operation not permitted, more than this user may lock");
  EXPECT_THAT(explain_refusal(map).remedy, StartsWith("raise ulimit -l"));

  const auto opening = fail(EPERM, "%s%s", kPerfEventOpen, strerror(EPERM)).error();
  EXPECT_TRUE(is_of_opening(opening));
  EXPECT_THAT(explain_refusal(opening).reason,
              StartsWith("perf_event_open: EPERM, kernel.perf_event_paranoid"));

  const auto other = fail(ENOMEM, "cannot map 8192 bytes: %s", strerror(ENOMEM)).error();
  EXPECT_EQ(explain_refusal(other).reason, "cannot map 8192 bytes: Cannot allocate memory");
}

}  // namespace
}  // namespace pctally
