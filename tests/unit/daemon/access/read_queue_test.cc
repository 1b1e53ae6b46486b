#include "daemon/access/read_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace muster::daemon {
namespace {

constexpr std::uint32_t kAlice = 1000;
constexpr std::uint32_t kMallory = 1001;

// Reads that have begun, and the turns that they hold.
struct Begun {
  std::vector<int> order;
  std::vector<ReadQueue::Turn> turns;

  ReadQueue::Read Read(int number) {
    return [this, number](ReadQueue::Turn turn) {
      order.push_back(number);
      turns.push_back(std::move(turn));
    };
  }
  // The next read begins as the turn goes, and adds its own.
  void EndFirst() {
    ReadQueue::Turn first = std::move(turns.front());
    turns.erase(turns.begin());
    first.reset();
  }
};

TEST(ReadQueue, AUsersReadsBeginAFewAtOnceInTheirOrder) {
  ReadQueue turns;
  Begun begun;
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(turns.Take(kAlice, begun.Read(i)));
  }
  EXPECT_EQ(begun.order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(turns.Waiting(kAlice), 3U);
  begun.EndFirst();
  EXPECT_EQ(begun.order, (std::vector<int>{0, 1, 2, 3, 4}));
  begun.EndFirst();
  begun.EndFirst();
  EXPECT_EQ(begun.order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(turns.Waiting(kAlice), 0U);
  begun.turns.clear();
}

TEST(ReadQueue, ManyShortReadsBeginOneAfterTheOtherAndNotOneWithinTheOther) {
  ReadQueue turns;
  Begun held;
  for (std::size_t i = 0; i < ReadQueue::kAtOnce; ++i) {
    ASSERT_TRUE(turns.Take(kAlice, held.Read(static_cast<int>(i))));
  }
  int depth = 0;
  int deepest = 0;
  std::size_t done = 0;
  for (std::size_t i = 0; i < ReadQueue::kWaitingMax; ++i) {
    ASSERT_TRUE(turns.Take(kAlice, [&](ReadQueue::Turn turn) {
      deepest = std::max(deepest, ++depth);
      ++done;
      turn.reset();  // it has answered at once
      --depth;
    }));
  }
  held.EndFirst();
  EXPECT_EQ(done, ReadQueue::kWaitingMax);
  EXPECT_EQ(deepest, 1);
  held.turns.clear();
}

TEST(ReadQueue, OneUsersFloodKeepsNobodyElseWaiting) {
  ReadQueue turns;  // outlives the reads
  Begun mallory;
  Begun alice;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(turns.Take(kMallory, mallory.Read(i)));
  }
  ASSERT_TRUE(turns.Take(kAlice, alice.Read(0)));
  EXPECT_EQ(alice.order.size(), 1U);
  while (!mallory.turns.empty()) {
    mallory.EndFirst();
  }
  EXPECT_EQ(mallory.order.size(), 100U);
}

TEST(ReadQueue, WhatWaitsIsBoundedAndTheRestIsRefused) {
  ReadQueue turns;
  Begun begun;
  std::size_t taken = 0;
  while (turns.Take(kAlice, begun.Read(0))) {
    ++taken;
  }
  EXPECT_EQ(taken, ReadQueue::kAtOnce + ReadQueue::kWaitingMax);
  begun.EndFirst();
  EXPECT_TRUE(turns.Take(kAlice, begun.Read(0)));
  while (!begun.turns.empty()) {
    begun.EndFirst();
  }
}

TEST(ReadQueue, AReadThatAnswersAtOnceMakesRoomForTheNext) {
  ReadQueue turns;
  int reads = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(turns.Take(kAlice, [&reads](const ReadQueue::Turn&) { ++reads; }));
  }
  EXPECT_EQ(reads, 1000);
}

TEST(ReadQueue, ManyThreadsNeverRunMoreThanAFewReadsOfAUser) {
  ReadQueue turns;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const bool taken = turns.Take(kAlice, [&](const ReadQueue::Turn&) {
          const int now = ++running;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          --running;
          ++done;
        });
        ASSERT_TRUE(taken);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(done, 2000);
  EXPECT_LE(most, static_cast<int>(ReadQueue::kAtOnce));
}

}  // namespace
}  // namespace muster::daemon
