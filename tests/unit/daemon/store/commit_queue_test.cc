#include "daemon/store/commit_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>

#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class CommitQueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = OpenStore(directory_.path());
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  TempDirectory directory_;
  std::unique_ptr<JobStore> store_;
  BatchMaker make_;
};

// Holds the writer's thread in a `done` until Open().
struct Gate {
  std::latch reached{1};
  std::latch open{1};
  void operator()() {
    reached.count_down();
    open.wait();
  }
};

TEST_F(CommitQueueTest, WhatGathersDuringACommitIsOneTransaction) {
  Gate gate;
  std::vector<int> order;
  {
    CommitQueue queue(*store_);
    queue.Push(make_.Of({Submitted(1, "")}), [&](absl::Status) { gate(); });
    gate.reached.wait();
    const std::uint64_t before = store_->transactions();
    for (int i = 0; i < 100; ++i) {
      queue.Push(make_.Small(), [&order, i](absl::Status status) {
        EXPECT_TRUE(status.ok()) << status;
        order.push_back(i);
      });
    }
    EXPECT_EQ(queue.depth(), 101U);
    gate.open.count_down();
    std::latch barrier{1};
    queue.Push({}, [&](absl::Status status) {
      EXPECT_TRUE(status.ok());
      barrier.count_down();
    });
    barrier.wait();
    EXPECT_EQ(store_->transactions(), before + 1);
  }
  EXPECT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(store_->Load()->version, Version(101));
}

TEST_F(CommitQueueTest, TheDestructorDrains) {
  int told = 0;
  {
    CommitQueue queue(*store_);
    queue.Push(make_.Of({Submitted(1, "")}), [&](absl::Status) { ++told; });
    for (int i = 0; i < 50; ++i) {
      queue.Push(make_.Small(), [&](absl::Status) { ++told; });
    }
  }
  EXPECT_EQ(told, 51);
  EXPECT_EQ(store_->Load()->version, Version(51));
}

TEST_F(CommitQueueTest, AnEmptyBatchWritesNothing) {
  {
    CommitQueue queue(*store_);
    queue.Push({}, [](absl::Status status) { EXPECT_TRUE(status.ok()); });
  }
  EXPECT_EQ(store_->transactions(), 0U);
}

TEST_F(CommitQueueTest, AfterAFailureEverythingIsAbortedUntilReset) {
  std::vector<absl::StatusCode> codes;
  const auto note = [&codes](absl::Status status) { codes.push_back(status.code()); };
  Gate gate;
  {
    CommitQueue queue(*store_);
    queue.Push(make_.Of({Submitted(1, "")}), note);
    Batch wrong = make_.Small();
    wrong.entries[0].version = Version(77);
    queue.Push({}, [&](absl::Status) { gate(); });
    gate.reached.wait();
    gate.open.count_down();
    queue.Push(wrong, [&](absl::Status status) { codes.push_back(status.code()); });
    std::latch failed{1};
    queue.Push({}, [&](absl::Status) { failed.count_down(); });
    failed.wait();
    BatchMaker again(1);
    queue.Push(again.Small(), note);
    queue.Push({}, note);
    queue.Reset();
    queue.Push(BatchMaker(1).Small(), note);
  }
  EXPECT_THAT(codes, ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kInternal,
                                 absl::StatusCode::kAborted, absl::StatusCode::kAborted,
                                 absl::StatusCode::kOk));
  EXPECT_EQ(store_->Load()->version, Version(2));
}

TEST_F(CommitQueueTest, ReadersSeeWhatDoneWasToldBeside) {
  CommitQueue queue(*store_);
  const JobSubmitted event = Submitted(1, "");
  std::vector<absl::Status> statuses;
  queue.Push(make_.Of({event}), [&](absl::Status status) {
    statuses.push_back(status);
    EXPECT_EQ(*store_->ReadProgram(JobId(1)), event.program);
  });
  for (int i = 0; i < 200; ++i) {
    queue.Push(make_.Small(), [](absl::Status) {});
    EXPECT_TRUE(store_->Load().ok());
  }
  std::latch last{1};
  queue.Push({}, [&](absl::Status) { last.count_down(); });
  last.wait();
  EXPECT_THAT(statuses, Each(absl::OkStatus()));
}

}  // namespace
}  // namespace muster::daemon
