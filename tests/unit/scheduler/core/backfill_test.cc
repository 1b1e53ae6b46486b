// Backfilling: who may overtake whom, checked on small clusters that run their jobs to the end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/cluster_state.h"
#include "scheduler/core/planner.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster {
namespace {

using testing::At;
using testing::MakeNode;
using testing::Normal;
using testing::Tasks;

// Jobs on nodes, moved on from one end or arrival to the next. Every job runs to its limit.
class Playing {
 public:
  struct Record {
    Time arrival = kNoTime;
    Time started = kNoTime;
    Time ended = kNoTime;
    Time promised = kNoTime;  // its first reservation
  };
  PolicyConfig config;

  explicit Playing(std::vector<testing::Shape> nodes) {
    snapshot_.now = At(0);
    for (const testing::Shape& shape : nodes) {
      snapshot_.nodes.push_back(
          MakeNode(static_cast<std::uint32_t>(snapshot_.nodes.size()) + 1, shape));
    }
  }

  void Submit(const ResourceRequest& request, std::int64_t seconds) {
    WaitingJob job;
    job.id = JobId(records_.size() + 1);
    job.submission = job.id;
    JobSpec spec = Normal(request);
    spec.time_limit = std::chrono::seconds(seconds);
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    snapshot_.waiting.push_back(std::move(job));
    records_[JobId(records_.size() + 1)].arrival = snapshot_.now;
  }

  // One pass, carried out.
  void Pass() {
    plan_ = MakePlan(snapshot_, config);
    snapshot_.promised = plan_.reservations;
    std::sort(snapshot_.promised.begin(), snapshot_.promised.end(),
              [](const auto& a, const auto& b) { return a.job < b.job; });
    for (const PlannedReservation& reservation : plan_.reservations) {
      Record& record = records_[reservation.job];
      ASSERT_GT(reservation.start, snapshot_.now);
      record.promised = record.promised == kNoTime ? reservation.start : record.promised;
    }
    for (const PlannedStart& start : plan_.starts) {
      const auto job = std::find_if(snapshot_.waiting.begin(), snapshot_.waiting.end(),
                                    [&](const WaitingJob& w) { return w.id == start.job; });
      ASSERT_NE(job, snapshot_.waiting.end());
      const Duration limit = job->spec->time_limit;
      records_[start.job].started = snapshot_.now;
      records_[start.job].ended = limit.count() > 0 ? snapshot_.now + limit : kNoTime;
      for (const NodeAllocation& part : start.allocation.nodes) {
        NodePicture& node = snapshot_.nodes[part.node.value() - 1];
        ASSERT_FALSE(node.taken.cpus.Meets(part.cpus)) << "a core was given to two jobs";
        AddUse(node.taken, *node.machine, part);
        node.holdings.push_back(HoldingOf(start.job, part));
        parts_[start.job].push_back(part);
      }
      snapshot_.waiting.erase(job);
    }
  }

  // On to the next end of a job. False when none runs to one.
  bool Advance() {
    Time next = kNoTime;
    for (const auto& [job, parts] : parts_) {
      const Time ends = records_[job].ended;
      if (ends != kNoTime && (next == kNoTime || ends < next)) {
        next = ends;
      }
    }
    if (next == kNoTime) {
      return false;
    }
    MoveTo(next);
    return true;
  }

  void MoveTo(Time time) {
    snapshot_.now = time;
    for (auto it = parts_.begin(); it != parts_.end();) {
      it = records_[it->first].ended <= time ? Free(it) : std::next(it);
    }
  }

  void RunDry() {
    for (Pass(); Advance();) {
      Pass();
    }
  }

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Record& Of(std::uint64_t job) { return records_[JobId(job)]; }
  [[nodiscard]] const std::map<JobId, Record>& records() const { return records_; }
  [[nodiscard]] bool Idle() const { return snapshot_.waiting.empty(); }

 private:
  using Parts = std::map<JobId, std::vector<NodeAllocation>>;

  Holding HoldingOf(JobId job, const NodeAllocation& part) {
    Holding holding{job, records_[job].ended, part.cpus, part.memory, {}};
    for (const GpuGrant& grant : part.gpus) {
      holding.gpus.push_back(grant.gpu);
    }
    return holding;
  }

  Parts::iterator Free(Parts::iterator job) {
    for (const NodeAllocation& part : job->second) {
      NodePicture& node = snapshot_.nodes[part.node.value() - 1];
      SubtractUse(node.taken, part);
      std::erase_if(node.holdings, [&](const Holding& h) { return h.job == job->first; });
    }
    return parts_.erase(job);
  }

  Snapshot snapshot_;
  Plan plan_;
  std::map<JobId, Record> records_;
  Parts parts_;
};

ResourceRequest Nodes(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes, 4);
  request.min_nodes = nodes;
  return request;
}

TEST(Backfill, AShortJobFillsTheHoleInFrontOfAReservation) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(1), 101);
  run.Pass();
  EXPECT_EQ(run.Of(2).promised, At(100));
  EXPECT_EQ(run.Of(3).started, At(0));
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, At(100));
  EXPECT_EQ(run.Of(4).started, At(150));
}

TEST(Backfill, AJobOneSecondTooLongWaits) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 101);
  run.Pass();
  EXPECT_EQ(run.Of(3).started, kNoTime);
}

TEST(Backfill, ALongJobMayUseWhatTheReservationLeaves) {
  Playing run({{.cores = 4}, {.cores = 8}});
  run.Submit(Tasks(1, 4), 100);  // takes node 1
  run.Submit(Tasks(1, 2), 100);
  run.Submit(Tasks(1, 8), 10);  // node 2, once job 2 has ended
  run.Submit(Tasks(1, 4), 5000);
  run.Pass();
  EXPECT_EQ(run.Of(3).promised, At(100));
  EXPECT_EQ(run.Of(4).started, kNoTime) << "it would hold up job 3 on node 2";
  run.RunDry();
  EXPECT_EQ(run.Of(4).started, At(100));
}

TEST(Backfill, NobodyOvertakesWithoutIt) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.config.backfill = Backfill::kNone;
  run.Submit(Nodes(1), 100);
  run.Submit(Nodes(2), 50);
  run.Submit(Nodes(1), 1);
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, At(100));
  EXPECT_EQ(run.Of(3).started, At(150));
}

TEST(Backfill, WithoutALimitAJobNeverDelaysTheReservedOne) {
  Playing run({{.cores = 4}, {.cores = 4}});
  run.Submit(Nodes(1), 0);
  run.Submit(Nodes(2), 0);
  run.Submit(Nodes(1), 0);
  run.Submit(Nodes(1), 60);
  run.Pass();
  EXPECT_EQ(run.Of(3).started, kNoTime) << "it might never give the node back";
  EXPECT_EQ(run.Of(4).started, At(0)) << "this one does";
}

TEST(Backfill, GpusCountInReservations) {
  ResourceRequest both = Tasks(2);
  both.gpus_per_task.count = 1;
  ResourceRequest one = Tasks(1);
  one.gpus_per_task.count = 1;
  Playing run({{.cores = 8, .gpus = 2}});
  run.Submit(one, 100);
  run.Submit(both, 10);
  run.Submit(one, 100);
  run.Submit(one, 101);
  run.Submit(Tasks(1), 5000);
  run.RunDry();
  EXPECT_EQ(run.Of(2).started, At(100));
  EXPECT_EQ(run.Of(3).started, At(0));
  EXPECT_EQ(run.Of(4).started, At(110));
  EXPECT_EQ(run.Of(5).started, At(0));
}

// A random cluster with a random queue that all arrives at once.
Playing RandomRun() {
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 5);
  std::vector<testing::Shape> shapes;
  for (std::size_t i = 0; i < nodes; ++i) {
    shapes.push_back({.cores = *rc::gen::inRange(1U, 5U), .gpus = *rc::gen::inRange(0U, 3U)});
  }
  Playing run(shapes);
  const auto jobs = *rc::gen::inRange(1, 12);
  for (int i = 0; i < jobs; ++i) {
    ResourceRequest request = Tasks(*rc::gen::inRange(1U, 5U), *rc::gen::inRange(1U, 3U));
    if (*rc::gen::inRange(0, 3) == 0) {
      request.gpus_per_task.count = 1;
    }
    if (*rc::gen::inRange(0, 3) == 0) {
      request.min_nodes = request.tasks;
    }
    run.Submit(request, *rc::gen::inRange(1, 30));
  }
  return run;
}

RC_GTEST_PROP(BackfillProperty, ConservativeKeepsEveryPromiseGivenTrueRunTimes, ()) {
  Playing run = RandomRun();
  run.config.backfill = Backfill::kConservative;
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    if (record.promised != kNoTime) {
      RC_ASSERT(record.started != kNoTime);
      RC_ASSERT(record.started <= record.promised);
    }
  }
}

RC_GTEST_PROP(BackfillProperty, EasyKeepsThePromiseToTheHeadGivenTrueRunTimes, ()) {
  Playing run = RandomRun();
  run.config.backfill = Backfill::kEasy;
  run.RunDry();
  for (const auto& [job, record] : run.records()) {
    RC_ASSERT(record.promised == kNoTime || record.started <= record.promised);
  }
}

RC_GTEST_PROP(BackfillProperty, EveryJobThatFitsTheEmptyClusterStartsInTheEnd, ()) {
  Playing run = RandomRun();
  run.config.backfill = *rc::gen::element(Backfill::kNone, Backfill::kEasy, Backfill::kConservative,
                                          Backfill::kHybrid);
  run.config.reservations = *rc::gen::inRange(0U, 4U);
  run.RunDry();
  for (const LeftWaiting& left : run.plan().waiting) {
    RC_ASSERT(left.reason.kind == ReasonKind::kBadConstraints);
  }
}

// What a backfilled job takes away from nobody: with the same queue and no backfilling the head of
// the queue does not start earlier.
RC_GTEST_PROP(BackfillProperty, TheFirstBlockedJobStartsNoLaterThanWithoutBackfilling, ()) {
  Playing run = RandomRun();
  Playing in_order = run;
  in_order.config.backfill = Backfill::kNone;
  run.config.backfill = *rc::gen::element(Backfill::kEasy, Backfill::kConservative);
  run.Pass();
  std::optional<JobId> head;
  for (const LeftWaiting& left : run.plan().waiting) {
    if (!head.has_value() && left.reason.kind == ReasonKind::kResources) {
      head = left.job;
    }
  }
  if (!head.has_value()) {
    return;
  }
  run.RunDry();
  in_order.RunDry();
  RC_ASSERT(run.Of(head->value()).started <= in_order.Of(head->value()).started);
}

}  // namespace
}  // namespace muster
