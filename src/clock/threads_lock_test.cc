#include "clock/threads_lock.h"

#include <gtest/gtest.h>

#include "tick/stepped_child_for_test.h"

namespace pctally {
namespace {

/// Its first word.
bool is_taken(const Mutex& mutex) { return *reinterpret_cast<const volatile uint32_t*>(&mutex) != 0; }

/// Where the clock's check interrupted the holder it would wait for itself. The child has the memory of this
/// thread, and is the same thread to the C library.
TEST(ThreadsLock, AHandlerKnowsTheHolderAtEveryInstruction) {
  if (!tracing_permitted()) GTEST_SKIP() << "no child can be stepped here: another machine, or no tracing";
  Mutex mutex;
  SteppedChild child([&mutex] {
    mutex.lock();
    mutex.unlock();
  });
  ASSERT_TRUE(child.stands());
  EXPECT_FALSE(mutex.held_by_this_thread());
  unsigned steps = 0, taken = 0;
  for (; child.step(); ++steps) {
    if (!is_taken(mutex)) continue;
    ++taken;
    ASSERT_TRUE(mutex.held_by_this_thread()) << "after " << steps << " instructions";
  }
  EXPECT_GT(taken, 3u);
  EXPECT_FALSE(is_taken(mutex) || mutex.held_by_this_thread());
}

}  // namespace
}  // namespace pctally
