#include "scheduler/runtime/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace muster {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class EventLoopTest : public ::testing::Test {
 protected:
  struct Pipe {
    UniqueFd reader;
    UniqueFd writer;
  };

  EventLoopTest() : loop_(EventLoop::Create().value()) {
    // No test hangs: a loop that nobody stops within five seconds is a failure.
    loop_->RunAfter(std::chrono::seconds(5), [this] {
      ADD_FAILURE() << "the loop was not stopped";
      loop_->Stop();
    });
  }

  static Pipe MakePipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
  static void WriteByte(const Pipe& pipe) { ASSERT_EQ(write(pipe.writer.get(), "x", 1), 1); }
  static void ReadByte(const Pipe& pipe) {
    char byte = 0;
    ASSERT_EQ(read(pipe.reader.get(), &byte, 1), 1);
  }

  std::unique_ptr<EventLoop> loop_;
};

TEST_F(EventLoopTest, ARoundThatWasHeldUpIsToldOnce) {
  std::vector<milliseconds> told;
  loop_->WhenHeldUp(milliseconds(200), [&](milliseconds took) { told.push_back(took); });
  loop_->Post([] { std::this_thread::sleep_for(milliseconds(250)); });
  loop_->RunAfter(milliseconds(10), [&] { loop_->Stop(); });
  ASSERT_TRUE(loop_->Run().ok());
  ASSERT_GE(told.size(), 1U);
  EXPECT_GE(told.front(), milliseconds(250));
}

TEST_F(EventLoopTest, AReadyDescriptorCallsBack) {
  const Pipe pipe = MakePipe();
  uint32_t seen = 0;
  ASSERT_TRUE(loop_
                  ->Watch(pipe.reader.get(), EPOLLIN,
                          [&](uint32_t events) {
                            seen = events;
                            loop_->Stop();
                          })
                  .ok());
  WriteByte(pipe);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_NE(seen & EPOLLIN, 0U);
}

TEST_F(EventLoopTest, WatchingTwiceOrChangingAnUnwatchedOneIsAnError) {
  const Pipe pipe = MakePipe();
  ASSERT_TRUE(loop_->Watch(pipe.reader.get(), EPOLLIN, [](uint32_t) {}).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(loop_->Watch(pipe.reader.get(), EPOLLIN, [](uint32_t) {})));
  EXPECT_TRUE(absl::IsNotFound(loop_->SetEvents(pipe.writer.get(), EPOLLOUT)));
  EXPECT_FALSE(loop_->Watch(-1, EPOLLIN, [](uint32_t) {}).ok());
}

TEST_F(EventLoopTest, SetEventsChangesWhatIsWaitedFor) {
  const Pipe pipe = MakePipe();
  int calls = 0;
  ASSERT_TRUE(loop_->Watch(pipe.writer.get(), 0, [&](uint32_t) { ++calls; }).ok());
  loop_->RunAfter(milliseconds(10), [&] {
    EXPECT_EQ(calls, 0) << "a writable pipe must be silent while nobody asks";
    ASSERT_TRUE(loop_->SetEvents(pipe.writer.get(), EPOLLOUT).ok());
    loop_->RunAfter(milliseconds(10), [&] { loop_->Stop(); });
  });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_GT(calls, 0);
}

TEST_F(EventLoopTest, ACallbackMayUnwatchItselfAndAnotherThatIsReady) {
  const Pipe first = MakePipe();
  const Pipe second = MakePipe();
  int calls = 0;
  const auto drop_both = [&](uint32_t) {
    ++calls;
    loop_->Unwatch(first.reader.get());
    loop_->Unwatch(second.reader.get());
    loop_->RunAfter(milliseconds(10), [&] { loop_->Stop(); });
  };
  ASSERT_TRUE(loop_->Watch(first.reader.get(), EPOLLIN, drop_both).ok());
  ASSERT_TRUE(loop_->Watch(second.reader.get(), EPOLLIN, drop_both).ok());
  WriteByte(first);
  WriteByte(second);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(EventLoopTest, AReusedDescriptorNumberDoesNotGetTheOldOnesEvents) {
  const Pipe trigger = MakePipe();
  Pipe old = MakePipe();
  const int number = old.reader.get();
  std::vector<std::string> calls;
  // Both pipes are ready in one round; whichever comes first replaces the descriptor under the
  // second number.
  const auto replace = [&](uint32_t) {
    calls.emplace_back("first");
    loop_->Unwatch(trigger.reader.get());
    loop_->Unwatch(number);
    Pipe fresh = MakePipe();
    ASSERT_EQ(dup2(fresh.reader.get(), number), number);
    ASSERT_TRUE(loop_->Watch(number, EPOLLIN, [&](uint32_t) { calls.emplace_back("wrong"); }).ok());
    old.writer = std::move(fresh.writer);
    loop_->RunAfter(milliseconds(10), [&] { loop_->Stop(); });
  };
  ASSERT_TRUE(loop_->Watch(trigger.reader.get(), EPOLLIN, replace).ok());
  ASSERT_TRUE(loop_->Watch(number, EPOLLIN, replace).ok());
  WriteByte(trigger);
  WriteByte(old);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_THAT(calls, ElementsAre("first"));
}

TEST_F(EventLoopTest, TimersFireInOrderOfTheirTimeAndNotBeforeIt) {
  const SystemClock clock;
  const SteadyTime start = clock.SteadyNow();
  std::vector<int> order;
  loop_->RunAfter(milliseconds(20), [&] {
    order.push_back(20);
    EXPECT_GE(clock.SteadyNow() - start, milliseconds(20));
    loop_->Stop();
  });
  loop_->RunAfter(milliseconds(5), [&] { order.push_back(5); });
  loop_->RunAfter(milliseconds(-1), [&] { order.push_back(-1); });
  loop_->RunAfter(milliseconds(10), [&] { order.push_back(10); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_THAT(order, ElementsAre(-1, 5, 10, 20));
}

TEST_F(EventLoopTest, ACancelledTimerDoesNotFire) {
  bool fired = false;
  const EventLoop::TimerId timer = loop_->RunAfter(milliseconds(1), [&] { fired = true; });
  loop_->RunAfter(milliseconds(15), [&] { loop_->Stop(); });
  loop_->Cancel(timer);
  loop_->Cancel(timer);
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_FALSE(fired);
}

TEST_F(EventLoopTest, ATimerThatRearmsAtOnceDoesNotStarveDescriptors) {
  const Pipe pipe = MakePipe();
  std::function<void()> again = [&] { loop_->RunAfter(milliseconds(0), again); };
  again();
  ASSERT_TRUE(loop_->Watch(pipe.reader.get(), EPOLLIN, [&](uint32_t) { loop_->Stop(); }).ok());
  WriteByte(pipe);
  ASSERT_TRUE(loop_->Run().ok());
}

TEST_F(EventLoopTest, ClosuresOfAnotherThreadRunHereAndInOrder) {
  constexpr int kClosures = 1000;
  std::vector<int> order;
  const std::thread::id owner = std::this_thread::get_id();
  std::jthread poster([&] {
    for (int i = 0; i < kClosures; ++i) {
      loop_->Post([&order, i, owner] {
        EXPECT_EQ(std::this_thread::get_id(), owner);
        order.push_back(i);
      });
    }
    loop_->Post([&] { loop_->Stop(); });
  });
  ASSERT_TRUE(loop_->Run().ok());
  ASSERT_EQ(order.size(), static_cast<size_t>(kClosures));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(EventLoopTest, WhatWasPostedBehindAStopRunsInTheNextRun) {
  std::vector<int> order;
  loop_->Post([&] {
    order.push_back(1);
    loop_->Post([&] {
      order.push_back(3);
      loop_->Stop();
    });
    loop_->Stop();
  });
  loop_->Post([&] { order.push_back(2); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_THAT(order, ElementsAre(1));
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST_F(EventLoopTest, OwnTimersRunWhatIsDueAndAreGoneWithTheirOwner) {
  std::optional<OwnTimers> timers(std::in_place, *loop_);
  int runs = 0;
  timers->After(milliseconds(1), [&] { ++runs; });
  timers->After(milliseconds(2), [&] {
    ++runs;
    timers->After(milliseconds(1), [&] {
      ++runs;
      timers.reset();
    });
  });
  timers->After(milliseconds(50), [&] { runs += 100; });
  loop_->RunAfter(milliseconds(100), [&] { loop_->Stop(); });
  ASSERT_TRUE(loop_->Run().ok());
  EXPECT_FALSE(timers.has_value());
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace muster
