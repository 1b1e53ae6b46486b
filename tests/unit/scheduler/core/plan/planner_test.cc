#include "scheduler/core/plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::Cpus;
using testing::MakeNode;
using testing::Normal;
using testing::Tasks;

// A snapshot put together by hand; jobs are numbered from 1 in the order in which they are added.
class Picture {
 public:
  Snapshot snapshot;

  Picture() { snapshot.now = At(1000); }

  Picture& Node(const testing::Shape& shape, const std::string& taken = "") {
    NodeSnapshot node = MakeNode(static_cast<std::uint32_t>(snapshot.nodes.size()) + 1, shape);
    node.taken.cpus = Cpus(taken);
    snapshot.nodes.push_back(std::move(node));
    return *this;
  }
  Picture& Job(const ResourceRequest& request) { return Job(Normal(request)); }
  Picture& Job(const JobSpec& spec) {
    WaitingJob job;
    job.id = JobId(++last_);
    job.submission = job.id;
    job.spec = std::make_shared<const JobSpec>(spec);
    snapshot.waiting.push_back(std::move(job));
    std::sort(snapshot.waiting.begin(), snapshot.waiting.end(), GoesBefore);
    return *this;
  }
  [[nodiscard]] Plan Make() const { return MakePlan(snapshot, SchedulerConfig()); }

  // "1=n1:0-1 2=Priority 3=…" in the order of job ids.
  [[nodiscard]] std::string Text() const {
    const Plan plan = Make();
    std::map<JobId, std::string> lines;
    for (const PlannedStart& start : plan.starts) {
      for (const NodeAllocation& part : start.allocation.nodes) {
        absl::StrAppend(&lines[start.job], lines[start.job].empty() ? "" : "+", part.name, ":",
                        part.cpus.ToList());
      }
    }
    for (const LeftWaiting& left : plan.waiting) {
      for (std::uint32_t i = 0; i < left.count; ++i) {
        lines[JobId(left.job.value() + i)] = Name(left.reason.kind);
      }
    }
    std::string text;
    for (const auto& [job, line] : lines) {
      absl::StrAppend(&text, text.empty() ? "" : " ", ToString(job), "=", line);
    }
    return text;
  }

 private:
  std::uint64_t last_ = 0;
};

Reason ReasonOf(const Plan& plan, std::uint64_t job) {
  for (const LeftWaiting& left : plan.waiting) {
    if (left.Has(JobId(job))) {
      return left.ReasonOf(JobId(job));
    }
  }
  return Reason();
}

JobSpec Nice(ResourceRequest request, std::int32_t nice) {
  JobSpec spec = Normal(std::move(request));
  spec.nice = nice;
  return spec;
}

TEST(Planner, StartsInTheOrderOfSubmissionWhatFits) {
  EXPECT_EQ(Picture().Node({}).Job(Tasks(1)).Job(Tasks(2)).Job(Tasks(1)).Text(),
            "1=n1:0 2=n1:1-2 3=n1:3");
}

TEST(Planner, TheLowerNiceValueGoesFirst) {
  EXPECT_EQ(Picture().Node({.cores = 1}).Job(Nice(Tasks(1), 5)).Job(Nice(Tasks(1), 0)).Text(),
            "1=Resources 2=n1:0");
}

TEST(Planner, AHeadThatWaitsKeepsThoseBehindItWaitingWithNumbers) {
  const Picture node_snapshot =
      Picture().Node({}, "0").Job(Tasks(4, 1)).Job(Tasks(1)).Job(Tasks(1));
  EXPECT_EQ(node_snapshot.Text(), "1=Resources 2=Priority 3=Priority");
  const Plan plan = node_snapshot.Make();
  EXPECT_EQ(ToSentence(ReasonOf(plan, 1)), "1 node: 1 with room for 3 of 4 tasks");
  EXPECT_EQ(ToSentence(ReasonOf(plan, 2)), "1 job before it, first job 1");
  EXPECT_EQ(ToSentence(ReasonOf(plan, 3)), "2 jobs before it, first job 1");
}

TEST(Planner, SaysHowFarEachNodeFallsShort) {
  ResourceRequest wide = Tasks(1, 3);
  Picture node_snapshot = Picture().Node({}, "0-2").Node({}, "0-1").Node({}).Job(wide);
  node_snapshot.snapshot.nodes[2].drained = true;
  node_snapshot.Node({}, "");
  node_snapshot.snapshot.nodes[3].taken.memory = kGibibyte * 8;
  EXPECT_EQ(ToSentence(ReasonOf(node_snapshot.Make(), 1)),
            "4 nodes: 2 short of 3 cores (has 2), 1 drained, 1 short of 6 GiB (has 0 B)");
}

TEST(Planner, SaysWhichGpusAreMissing) {
  ResourceRequest request = Tasks(1);
  request.gpus_per_node = {"H100", 2};
  Picture node_snapshot = Picture()
                              .Node({.gpus = 2, .gpu_model = "NVIDIA H100"})
                              .Node({.gpus = 1})
                              .Node({})
                              .Job(request);
  node_snapshot.snapshot.nodes[0].taken.gpus[1] = kWholeGpu;
  EXPECT_EQ(ToSentence(ReasonOf(node_snapshot.Make(), 1)),
            "3 nodes: 2 short of 2 GPUs (has 1), 1 without GPUs of that type");
}

TEST(Planner, AJobThatCanNeverStartSaysSoAndBlocksNobody) {
  const Picture node_snapshot = Picture().Node({}).Job(Tasks(1, 5)).Job(Tasks(1));
  EXPECT_EQ(node_snapshot.Text(), "1=BadConstraints 2=n1:0");
  const Reason reason = ReasonOf(node_snapshot.Make(), 1);
  EXPECT_EQ(reason.verdict, ReasonClass::kNever);
  EXPECT_EQ(ToSentence(reason), "never on this cluster: 1 node: 1 short of 5 cores (has 4)");
}

TEST(Planner, AJobThatCanNeverStartSaysSoEvenBehindAnother) {
  EXPECT_EQ(Picture().Node({}, "0").Job(Tasks(4)).Job(Tasks(1, 5)).Job(Tasks(1)).Text(),
            "1=Resources 2=BadConstraints 3=Priority");
}

TEST(Planner, AJobThatNeedsANodeThatIsAwayBlocksNobody) {
  Picture node_snapshot = Picture().Node({}).Node({.cores = 8}).Job(Tasks(1, 8)).Job(Tasks(1));
  node_snapshot.snapshot.nodes[1].up = false;
  EXPECT_EQ(node_snapshot.Text(), "1=ReqNodeNotAvail 2=n1:0");
  EXPECT_EQ(ToSentence(ReasonOf(node_snapshot.Make(), 1)),
            "fits only on nodes that are not available: 2 nodes: 1 short of 8 cores (has 4), 1 "
            "down");
}

TEST(Planner, WithoutNodesJobsWaitForNodesAndAreNotRefusedForEver) {
  const Plan plan = Picture().Job(Tasks(1)).Make();
  EXPECT_EQ(ReasonOf(plan, 1).verdict, ReasonClass::kNotNow);
  EXPECT_EQ(ToSentence(ReasonOf(plan, 1)),
            "fits only on nodes that are not available: 0 nodes: needs 1 node, none fits");
}

TEST(Planner, HeldJobsWaitAndBlockNobody) {
  Picture node_snapshot = Picture().Node({.cores = 1}).Job(Tasks(1)).Job(Tasks(1));
  node_snapshot.snapshot.waiting[0].held = true;
  EXPECT_EQ(node_snapshot.Text(), "1=JobHeldUser 2=n1:0");
}

TEST(Planner, AJobWithAnAttemptThatNobodyHereStartedWaitsForItsEnd) {
  Picture node_snapshot = Picture().Node({.cores = 1}).Job(Tasks(1)).Job(Tasks(1));
  node_snapshot.snapshot.waiting[0].quarantined = true;
  EXPECT_EQ(node_snapshot.Text(), "1=Cleaning 2=n1:0");
}

TEST(Planner, AJobBeforeItsBeginTimeWaitsAndThePlanSaysWhenToWake) {
  JobSpec later = Normal(Tasks(1));
  later.begin = At(3000);
  JobSpec sooner = later;
  sooner.begin = At(2000);
  JobSpec now = later;
  now.begin = At(1000);
  const Picture node_snapshot = Picture().Node({}).Job(later).Job(sooner).Job(now);
  EXPECT_EQ(node_snapshot.Text(), "1=BeginTime 2=BeginTime 3=n1:0");
  EXPECT_EQ(node_snapshot.Make().wake, At(2000));
  EXPECT_EQ(Picture().Node({}).Job(Tasks(1)).Make().wake, kNoTime);
}

TEST(Planner, AnArrayRunsAtMostAsManyElementsAsItsThrottleSays) {
  JobSpec spec = Normal(Tasks(1));
  spec.array = ArraySpec{{{0, 2, 1}}, 2};
  Picture node_snapshot = Picture().Node({}).Job(spec).Job(spec).Job(spec).Job(Tasks(1));
  for (std::size_t i = 0; i < 3; ++i) {
    node_snapshot.snapshot.waiting[i].submission = JobId(1);
  }
  EXPECT_EQ(node_snapshot.Text(), "1=n1:0 2=n1:1 3=JobArrayTaskLimit 4=n1:2");
  node_snapshot.snapshot.arrays = {{JobId(1), 1}};
  EXPECT_EQ(node_snapshot.Text(), "1=n1:0 2=JobArrayTaskLimit 3=JobArrayTaskLimit 4=n1:1");
}

TEST(Planner, AThousandJobsThatCannotStartCostOneLook) {
  Picture node_snapshot;
  for (int i = 0; i < 200; ++i) {
    node_snapshot.Node({.cores = 64});
  }
  for (int i = 0; i < 1000; ++i) {
    node_snapshot.Job(Tasks(1, 65));
  }
  const Plan plan = node_snapshot.Make();
  ASSERT_EQ(plan.waiting.size(), 1000U);
  EXPECT_EQ(plan.waiting.front().reason, plan.waiting.back().reason);
}

Picture Golden() {
  ResourceRequest gpus = Tasks(2, 2);
  gpus.gpus_per_task = {"a100", 1};
  ResourceRequest spread = Tasks(6);
  spread.min_nodes = 2;
  ResourceRequest alone = Tasks(1);
  alone.exclusive = true;
  JobSpec later = Normal(Tasks(1));
  later.begin = At(5000);
  Picture node_snapshot = Picture()
                              .Node({.numa = 2, .cores = 4, .threads = 2, .gpus = 2}, "0-3")
                              .Node({.numa = 2, .cores = 4})
                              .Node({.cores = 2})
                              .Job(gpus)
                              .Job(spread)
                              .Job(later)
                              .Job(Tasks(1, 99))
                              .Job(alone)
                              .Job(Nice(Tasks(1), -3))
                              .Job(Tasks(40))
                              .Job(Tasks(1));
  node_snapshot.snapshot.nodes[2].drained = true;
  return node_snapshot;
}

constexpr std::uint64_t kGoldenHash = 0x7cc287e5ec08f7a6U;

// What differs here has changed what every cluster decides: it must be meant.
TEST(Planner, DecidesTheSameInEveryBuildAndOnEveryMachine) {
  EXPECT_EQ(Golden().Text(),
            "1=n1:4-7 2=n1:8-13+n2:1-3 3=BeginTime 4=BadConstraints 5=Resources 6=n2:0 "
            "7=BadConstraints 8=n2:4");
  EXPECT_EQ(Golden().Make().hash, kGoldenHash) << std::hex << Golden().Make().hash;
}

TEST(Planner, TheHashCoversEveryStartAndEveryReason) {
  Plan plan = Golden().Make();
  const auto hash = [&] {
    return Fingerprint()
        .Add(plan.starts)
        .Add(plan.reservations)
        .Add(plan.waiting)
        .Add(plan.drops)
        .Add(plan.preemptions)
        .value();
  };
  EXPECT_EQ(plan.hash, hash());
  ++plan.waiting.back().reason.ahead;
  EXPECT_NE(plan.hash, hash());
}

TEST(Planner, TheOrderInWhichJobsAndNodesWereMadeDoesNotMatter) {
  std::optional<std::uint64_t> first;
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    StateImage image;
    image.next_job = JobId(6);
    image.next_node = NodeId(6);
    for (const int i : order) {
      const auto number = static_cast<std::uint32_t>(i + 1);
      const NodeSnapshot node_snapshot = MakeNode(number, {.cores = 2 + number % 2});
      Node node;
      node.id = node_snapshot.id;
      node.name = node_snapshot.name;
      node.machine = node_snapshot.machine;
      node.connected = true;
      image.nodes.push_back(node);
      Job job;
      job.id = JobId(number);
      job.submission = job.id;
      job.spec = std::make_shared<const JobSpec>(Nice(Tasks(number), -(i % 2)));
      image.jobs.push_back(job);
    }
    const ClusterState state(std::move(image));
    const std::uint64_t hash = MakePlan(*BuildSnapshot(state, At(1000)), SchedulerConfig()).hash;
    first = first.value_or(hash);
    ASSERT_EQ(hash, *first);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace muster::core
