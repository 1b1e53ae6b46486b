// Parts of GPUs (--gpu-share): who gets which, and whom that may not delay.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "scheduler/core/place/placement.h"
#include "scheduler/core/place/share_placement.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/playing.h"

namespace muster::core {
namespace {

using testing::After;
using testing::MakeNode;
using testing::Playing;
using testing::Shape;
using testing::Tasks;

ResourceRequest Share(std::uint32_t thousandths, std::uint32_t tasks = 1) {
  ResourceRequest request = Tasks(tasks);
  request.gpu_share = GpuShare(thousandths);
  return request;
}

ResourceRequest Whole(std::uint32_t gpus) {
  ResourceRequest request = Tasks(1);
  request.gpus_per_node.count = gpus;
  request.min_nodes = request.max_nodes = 1;
  return request;
}

// "0:250 1:500" of the job's GPUs on its first node.
std::string Grants(const NodeAllocation& part) {
  std::string text;
  for (const GpuGrant& grant : part.gpus) {
    absl::StrAppend(&text, text.empty() ? "" : " ", grant.gpu, ":", grant.share.value());
  }
  return text;
}

TEST(GpuShare, TasksFillOneGpuBeforeTheNext) {
  const NodeSnapshot node = MakeNode(1, {.numa = 1, .cores = 8, .gpus = 2});
  const Placed placed = PlaceOnNode(node, testing::Asks(Share(400, 5)), 5);
  EXPECT_EQ(placed.tasks, 4U);
  EXPECT_EQ(Grants(placed.allocation), "0:800 1:800");
  EXPECT_EQ(placed.allocation.ranks[3].gpus, std::vector<std::uint32_t>{1});
}

TEST(GpuShare, ATaskGoesToTheFullestGpuThatHasCoresBesideIt) {
  NodeSnapshot node = MakeNode(1, {.numa = 2, .cores = 2, .gpus = 1});
  node.taken.gpus[0] = GpuShare(700);
  EXPECT_EQ(Grants(PlaceOnNode(node, testing::Asks(Share(300)), 1).allocation), "0:300");
  node.taken.cpus = testing::Cpus("0-1");  // those beside GPU 0
  EXPECT_EQ(Grants(PlaceOnNode(node, testing::Asks(Share(300)), 1).allocation), "1:300");
}

TEST(GpuShare, WithOneANodeAllTasksThereHaveOneShareTogether) {
  ResourceRequest request = Share(250, 3);
  request.gpus_per_node.count = 1;
  request.max_nodes = 1;
  const Placed placed =
      PlaceOnNode(MakeNode(1, {.cores = 4, .gpus = 2}), testing::Asks(request), 3);
  EXPECT_EQ(placed.tasks, 3U);
  EXPECT_EQ(Grants(placed.allocation), "0:250");
}

TEST(GpuShare, AWholeNodesMemoryIsCountedOnceForAllTasks) {
  ResourceRequest request = Share(100, 4);
  request.memory_per_node = kGibibyte * 8;
  const Placed placed =
      PlaceOnNode(MakeNode(1, {.cores = 4, .gpus = 1}), testing::Asks(request), 4);
  EXPECT_EQ(placed.tasks, 4U);
  EXPECT_EQ(placed.allocation.memory, kGibibyte * 8);
}

TEST(GpuShare, JobsThatShareAreStartedTogetherAndKeepWholeGpusFree) {
  Playing run({{.cores = 8, .gpus = 2}});
  for (int i = 0; i < 4; ++i) {
    run.Submit(Share(250), 100);
  }
  run.Submit(Whole(1), 100);
  run.RunCycle();
  for (std::uint64_t job = 1; job <= 5; ++job) {
    EXPECT_EQ(run.Of(job).started, After(0)) << job;
  }
}

TEST(GpuShare, AShareNeverDelaysTheReservedJob) {
  Playing run({{.cores = 8, .gpus = 2}});
  run.Submit(Share(500), 100);
  run.Submit(Whole(1), 50);
  run.Submit(Whole(2), 50);     // at 100, when both are whole again
  run.Submit(Share(500), 200);  // would hold GPU 0 beyond that
  run.Submit(Share(500), 100);  // would not
  run.RunCycle();
  EXPECT_EQ(run.Of(3).promised, After(100));
  EXPECT_EQ(run.Of(4).started, kNoTime);
  EXPECT_EQ(run.Of(5).started, After(0));
  run.RunDry();
  EXPECT_EQ(run.Of(3).started, After(100));
  EXPECT_EQ(run.Of(4).started, After(150));
}

TEST(GpuShare, ALongShareMayUseAGpuThatNobodyWasPromised) {
  Playing run({{.cores = 8, .gpus = 3}});
  run.Submit(Share(500), 100);
  run.Submit(Whole(2), 50);
  run.Submit(Whole(2), 50);     // at 50
  run.Submit(Share(500), 200);  // beside job 1: GPU 0 is nobody's then
  run.RunCycle();
  EXPECT_EQ(run.Of(3).promised, After(50));
  EXPECT_EQ(run.Of(4).started, After(0));
}

TEST(GpuShare, TwoHalvesOfDifferentGpusAreNoWholeOne) {
  Playing run({{.cores = 8, .gpus = 2}});
  run.Submit(Share(600), 100);
  run.Submit(Share(600), 100);
  run.Submit(Share(600), 100);
  run.RunCycle();
  EXPECT_EQ(run.Of(3).started, kNoTime);
  run.RunCycle();  // which sees how they lie
  ASSERT_EQ(run.plan().waiting.size(), 1U);
  EXPECT_EQ(ToSentence(run.plan().waiting[0].reason),
            "1 node: 1 short of 0.6 of one GPU (has 0.4)");
  run.RunDry();
  EXPECT_EQ(run.Of(3).started, After(100));
}

TEST(GpuShare, AShareBeyondEveryGpuNeverStarts) {
  Playing run(std::vector<Shape>{{.cores = 8}});
  run.Submit(Share(500), 100);
  run.RunCycle();
  ASSERT_EQ(run.plan().waiting.size(), 1U);
  EXPECT_EQ(run.plan().waiting[0].reason.kind, ReasonKind::kBadConstraints);
}

TEST(GpuShare, AShareGoesWhereTheJobsThatAreSeenLoseLeast) {
  // Nodes of one and of four GPUs; the mix is of jobs of four.
  Playing run({{.cores = 8, .gpus = 4}, {.cores = 8, .gpus = 1}});
  run.Submit(Share(500), 100);
  run.Submit(Whole(4), 100);
  run.RunCycle();
  EXPECT_EQ(run.Of(1).started, After(0));
  EXPECT_EQ(run.Of(2).started, After(0)) << "the share broke the node of four";
}

TEST(GpuShare, WhatIsGivenNeverExceedsAGpuAndEveryJobEnds) {
  EXPECT_TRUE(rc::check("shares and whole GPUs in any order", [] {
    std::vector<Shape> shapes;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
      shapes.push_back({.numa = static_cast<std::uint32_t>(*rc::gen::inRange(1, 3)),
                        .cores = static_cast<std::uint32_t>(*rc::gen::inRange(1, 5)),
                        .gpus = static_cast<std::uint32_t>(*rc::gen::inRange(1, 4))});
    }
    Playing run(shapes);
    const int jobs = *rc::gen::inRange(1, 25);
    for (int i = 0; i < jobs; ++i) {
      const auto seconds = static_cast<std::int64_t>(*rc::gen::inRange(1, 100));
      if (*rc::gen::arbitrary<bool>()) {
        run.Submit(Share(static_cast<std::uint32_t>(*rc::gen::inRange(1, 1000))), seconds);
      } else {
        run.Submit(Whole(1), seconds);
      }
    }
    run.RunDry();  // its cycles check every GPU
    for (const auto& [job, record] : run.records()) {
      RC_ASSERT(record.started != kNoTime);
      // A promise is the latest start.
      RC_ASSERT(record.promised == kNoTime || record.started <= record.promised);
    }
  }));
}

}  // namespace
}  // namespace muster::core
