#include "scheduler/runtime/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace muster {
namespace {

struct Counter {
  Mutex mutex;
  CondVar changed;
  int value ABSL_GUARDED_BY(mutex) = 0;
};

TEST(Mutex, ManyThreadsLoseNoIncrement) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&counter] {
        for (int i = 0; i < 10'000; ++i) {
          const MutexLock lock(&counter.mutex);
          ++counter.value;
        }
      });
    }
  }
  const MutexLock lock(&counter.mutex);
  EXPECT_EQ(counter.value, 40'000);
}

TEST(CondVar, AWaiterWakesWhenNotified) {
  Counter counter;
  std::jthread setter([&counter] {
    const MutexLock lock(&counter.mutex);
    counter.value = 7;
    counter.changed.NotifyAll();
  });
  const MutexLock lock(&counter.mutex);
  while (counter.value == 0) {
    counter.changed.Wait(&counter.mutex);
  }
  EXPECT_EQ(counter.value, 7);
}

TEST(CondVar, AWaitEndsWhenItsTimeHasPassed) {
  Counter counter;
  const MutexLock lock(&counter.mutex);
  // A spurious wake-up may end one wait early, not a hundred.
  int waits = 1;
  while (counter.changed.WaitFor(&counter.mutex, std::chrono::milliseconds(1))) {
    ASSERT_LT(++waits, 100);
  }
}

}  // namespace
}  // namespace muster
