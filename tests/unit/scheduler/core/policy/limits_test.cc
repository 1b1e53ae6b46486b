#include "scheduler/core/policy/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "scheduler/core/handle/submit/user_jobs.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::PolicyWorld;
using ::testing::StartsWith;
using testing::Tasks;

class LimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"n1", "n2"}) {
      world_.AddNode(name, {.cores = 8, .gpus = 2});
    }
  }
  PolicyWorld world_;
};

TEST_F(LimitsTest, AGroupLimitSaysWhoHoldsWhatAndWhenItIsFree) {
  world_.Add(PolicyKind::kQos, "high", {{"GrpTRES", "cpu=6"}});
  const JobId first = world_.Run(Tasks(4), "high", "", "", 60);
  const JobId second = world_.Run(Tasks(3), "high", "", "", 60);
  EXPECT_EQ(world_.StatusOf(first), "running");
  EXPECT_EQ(world_.StatusOf(second),
            "QOSGrpCpuLimit: qos high cpu: 4 of 6 in use, it needs 3; held by job 1; free at "
            "1970-01-01T01:16:40Z at the latest");
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(2), "high", "", "", 60)), "running");
  world_.End(first);
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(second), "running");
}

TEST_F(LimitsTest, AJobThatALimitHoldsKeepsNobodyElseWaiting) {
  world_.Add(PolicyKind::kQos, "small", {{"MaxJobsPerUser", "0"}});
  const JobId held = world_.Run(Tasks(1), "small");
  EXPECT_THAT(world_.StatusOf(held), StartsWith("QOSMaxJobsPerUserLimit: "));
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1))), "running");
}

TEST_F(LimitsTest, AnAccountCountsAllBelowIt) {
  world_.Add(PolicyKind::kAccount, "physics", {{"GrpTRES", "cpu=5"}});
  world_.Add(PolicyKind::kAccount, "theory", {{"Parent", "physics"}});
  world_.Add(PolicyKind::kAccount, "optics", {{"Parent", "physics"}});
  world_.Run(Tasks(3), "", "theory", "", 10);
  const JobId other = world_.Run(Tasks(3), "", "optics", "", 10);
  EXPECT_THAT(world_.StatusOf(other),
              StartsWith("AssocGrpCpuLimit: account physics cpu: 3 of 5 in use, it needs 3"));
}

TEST(LimitsOnNodesOfSeveralKinds, AJobGoesWhereItsThreadsAreWithinTheLimit) {
  PolicyWorld world;
  world.AddNode("wide", {.cores = 4, .threads = 2});  // which is the tighter one: its first choice
  world.AddNode("plain", {.cores = 8});
  world.Add(PolicyKind::kQos, "small", {{"GrpTRES", "cpu=3"}});
  const JobId job = world.Run(Tasks(1, 3), "small");
  ASSERT_EQ(world.StatusOf(job), "running");
  EXPECT_EQ(world.state.FindJob(job)->attempt->allocation.nodes.front().name, "plain");
  EXPECT_EQ(world.StatusOf(world.Run(Tasks(1, 3), "small")),
            "QOSGrpCpuLimit: qos small cpu: 3 of 3 in use, it needs 3; held by job 1");
}

TEST(LimitsOnNodesOfSeveralKinds, AJobOnSeveralNodesLeavesOutTheDearestKindAlone) {
  PolicyWorld world;
  world.AddNode("wide", {.cores = 4, .threads = 2});
  world.AddNode("plain", {.cores = 8});
  world.AddNode("small", {.cores = 6});
  world.Add(PolicyKind::kQos, "six", {{"GrpTRES", "cpu=6"}});
  ResourceRequest request = Tasks(2, 3);
  request.min_nodes = request.max_nodes = 2;
  const JobId job = world.Run(request, "six");
  ASSERT_EQ(world.StatusOf(job), "running");
  for (const NodeAllocation& part : world.state.FindJob(job)->attempt->allocation.nodes) {
    EXPECT_NE(part.name, "wide");
  }
}

TEST(LimitsOnNodesOfSeveralKinds, AJobTakesGpusOfTheModelThatIsLeftToIt) {
  PolicyWorld world;
  world.AddNode("n1", {.cores = 8, .gpus = 2});
  world.AddNode("n2", {.cores = 8, .gpus = 2, .gpu_model = "NVIDIA H100 80GB HBM3"});
  world.Add(PolicyKind::kQos, "few", {{"GrpTRES", "gres/gpu:a100=1"}});
  ResourceRequest request = Tasks(1);
  request.gpus_per_node.count = 2;
  const JobId job = world.Run(request, "few");
  ASSERT_EQ(world.StatusOf(job), "running");
  EXPECT_EQ(world.state.FindJob(job)->attempt->allocation.nodes.front().name, "n2");
}

TEST(LimitsOnNodesOfSeveralKinds, AJobThatBreaksItOnEachKindIsToldOfTheLimit) {
  PolicyWorld world;
  world.AddNode("wide", {.cores = 4, .threads = 2});
  world.AddNode("plain", {.cores = 8});
  world.Add(PolicyKind::kQos, "small", {{"GrpTRES", "cpu=5"}});
  ResourceRequest request = Tasks(1, 3);
  request.exclusive = true;
  EXPECT_THAT(world.StatusOf(world.Run(request, "small")),
              StartsWith("QOSGrpCpuLimit: qos small cpu: at most 5, it needs 8"));
}

TEST_F(LimitsTest, TheNearestMaxOfAnAssociationCounts) {
  world_.Add(PolicyKind::kAccount, "physics", {{"MaxJobs", "1"}});
  world_.Add(PolicyKind::kAssociation, "physics/ada", {{"MaxJobs", "2"}});
  world_.Run(Tasks(1), "", "physics");
  world_.Run(Tasks(1), "", "physics");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1), "", "physics")),
              StartsWith("AssocMaxJobsLimit: user ada in account physics jobs: 2 of 2 in use"));
  world_.Set(PolicyKind::kAssociation, "physics/ada", {{"MaxJobs", "-1"}});
  world_.Schedule();
  EXPECT_THAT(world_.StatusOf(JobId(3)), StartsWith("AssocMaxJobsLimit: "));
}

TEST_F(LimitsTest, GpusAreCountedByTheirType) {
  world_.Add(PolicyKind::kQos, "normal", {{"MaxTRESPerUser", "gres/gpu:a100=1,gres/gpu=3"}});
  ResourceRequest request = Tasks(1);
  request.gpus_per_node.count = 2;
  EXPECT_THAT(world_.StatusOf(world_.Run(request)),
              StartsWith("QOSMaxGRESPerUser: qos normal of user ada gres/gpu:a100: at most 1"));
  request.gpus_per_node.count = 1;
  EXPECT_EQ(world_.StatusOf(world_.Run(request)), "running");
}

TEST_F(LimitsTest, AllBrokenLimitsAreTold) {
  world_.Add(PolicyKind::kQos, "q",
             {{"GrpTRES", "cpu=2,mem=1G"}, {"MaxTRESPerJob", "cpu=1"}, {"MaxWall", "10"}});
  JobSpec spec = world_.Spec(Tasks(4));
  spec.request.memory_per_node = kGibibyte * 2;
  spec.qos = "q";
  spec.time_limit = std::chrono::hours(1);
  const JobId job = world_.Submit(spec);
  const auto snapshot = BuildSnapshot(world_.state, world_.now);
  CycleUsage usage(*snapshot->policy);
  std::vector<Reason> reasons;
  AddPolicyBlockers(*snapshot, snapshot->waiting.front(), usage, reasons);
  std::vector<std::string> names;
  for (const Reason& reason : reasons) {
    names.emplace_back(Name(reason.kind));
  }
  EXPECT_EQ(job, JobId(1));
  EXPECT_THAT(names, ::testing::ElementsAre("QOSMaxTRESPerJob", "QOSMaxWallDurationPerJobLimit",
                                            "QOSGrpCpuLimit", "QOSGrpMemLimit"));
}

TEST_F(LimitsTest, ABudgetCountsWhatWasUsedAndWhatIsPromised) {
  world_.Add(PolicyKind::kAccount, "physics", {{"GrpTRESMins", "cpu=100"}});
  const JobId first = world_.Run(Tasks(2), "", "physics", "", 30);   // promises 60
  const JobId second = world_.Run(Tasks(2), "", "physics", "", 30);  // 60 more are too many
  EXPECT_THAT(world_.StatusOf(second),
              StartsWith("AssocGrpTRESMinutes: account physics cpu: 60 minutes of 100 minutes in "
                         "use, it needs 60 minutes"));
  world_.now += std::chrono::minutes(10);
  world_.End(first);  // used 20
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(second), "running");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1), "", "physics")),
              HasSubstr("a job without --time cannot promise its use"));
  world_.now += std::chrono::minutes(30);
  world_.End(second);  // 80 used
  const JobId third = world_.Run(Tasks(2), "", "physics", "", 30);
  EXPECT_THAT(world_.StatusOf(third), HasSubstr("80 minutes of 100 minutes in use"));
  world_.Set(PolicyKind::kAccount, "physics", {{"RawUsage", "0"}});
  world_.Schedule();
  EXPECT_EQ(world_.StatusOf(third), "running");
}

TEST_F(LimitsTest, SubmitLimitsRefuseAtSubmission) {
  world_.Add(PolicyKind::kQos, "q", {{"MaxSubmitJobsPerUser", "3"}});
  JobSpec spec = world_.Spec(Tasks(1));
  spec.qos = "q";
  world_.Submit(spec);
  spec.array = ArraySpec{{{0, 2, 1}}, 0};
  EXPECT_EQ(world_.Refused(spec),
            "qos q MaxSubmitJobsPerUser: 1 of 3 jobs are submitted, 3 more do not fit; wait for "
            "some to end, or ask the administrator");
  spec.array = ArraySpec{{{0, 1, 1}}, 0};
  world_.Submit(spec);
}

TEST_F(LimitsTest, AnAccountsSubmitLimitHoldsForEachOfItsUsersWithoutOne) {
  world_.Add(PolicyKind::kAccount, "physics", {{"MaxSubmitJobs", "1"}});
  world_.Add(PolicyKind::kAssociation, "physics/ada", {});
  JobSpec spec = world_.Spec(Tasks(1));
  spec.account = "physics";
  world_.Submit(spec);
  EXPECT_EQ(world_.Refused(spec),
            "user ada in account physics MaxSubmitJobs: 1 of 1 jobs are submitted, 1 more do not "
            "fit; wait for some to end, or ask the administrator");
}

TEST_F(LimitsTest, AUserHasNoMoreJobsThanTheClusterLetsEachHave) {
  world_.config.submit_jobs_max = 3;
  JobSpec spec = world_.Spec(Tasks(1));
  const JobId first = world_.Submit(spec);
  spec.array = ArraySpec{{{0, 2, 1}}, 0};
  EXPECT_EQ(world_.Refused(spec),
            "user " + spec.user.name +
                ": 1 of 3 jobs wait or run (policy.submit_jobs_max), 3 more do not fit; wait for "
                "some to end, or ask the administrator");
  JobSpec others = world_.Spec(Tasks(1));
  others.user.name = "grace";
  world_.Submit(others);
  world_.Schedule();
  world_.End(first);
  world_.Submit(spec);
  EXPECT_NE(world_.Refused(world_.Spec(Tasks(1))), "");
  world_.config.submit_jobs_max = 0;
  world_.Submit(world_.Spec(Tasks(1)));
}

TEST_F(LimitsTest, DenyOnLimitRefusesWhatNoWaitingMends) {
  world_.Add(PolicyKind::kQos, "q", {{"MaxTRESPerJob", "cpu=2"}, {"Flags", "DenyOnLimit"}});
  JobSpec spec = world_.Spec(Tasks(4));
  spec.qos = "q";
  EXPECT_EQ(world_.Refused(spec), "QOSMaxTRESPerJob: qos q cpu: at most 2, it needs 4");
}

TEST_F(LimitsTest, APlanMadeBeforeALimitIsNotTakenAfterIt) {
  world_.Submit(Tasks(4));
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  world_.Add(PolicyKind::kQos, "normal", {{"GrpTRES", "cpu=2"}});
  EXPECT_EQ(world_.Take(TakePlan{plan}).events.size(), 0U);
}

TEST_F(LimitsTest, APartitionsQosCountsItsJobsWhateverTheirOwn) {
  world_.Add(PolicyKind::kQos, "part", {{"GrpJobs", "1"}});
  world_.Add(PolicyKind::kPartition, "p", {{"QoS", "part"}, {"Default", "yes"}});
  EXPECT_EQ(world_.StatusOf(world_.Run(Tasks(1))), "running");
  EXPECT_THAT(world_.StatusOf(world_.Run(Tasks(1))), StartsWith("QOSGrpJobsLimit: qos part"));
}

// What is in use, by looking at every job: written apart from the table.
struct InUse {
  std::map<std::string, std::uint64_t> jobs;
  std::map<std::string, std::uint64_t> cpus;
  std::map<std::string, std::uint64_t> memory;
};

InUse LookAt(const ClusterState& state) {
  InUse use;
  for (const auto& [id, job] : state.jobs()) {
    if (!job.attempt.has_value()) {
      continue;
    }
    std::vector<std::string> of = {
        "qos " + job.spec->qos, "qos " + job.spec->qos + " " + job.spec->user.name,
        "account " + job.spec->account, "user " + job.spec->account + " " + job.spec->user.name};
    if (job.spec->account == "theory") {
      of.emplace_back("account physics");
    }
    for (const std::string& key : of) {
      ++use.jobs[key];
      for (const NodeAllocation& part : job.attempt->allocation.nodes) {
        use.cpus[key] += part.cpus.Count();
        use.memory[key] += part.memory.value();
      }
    }
  }
  return use;
}

struct Caps {
  std::uint32_t qos_cpus;
  std::uint32_t user_cpus;
  std::uint32_t physics_memory;  // GiB
  std::uint32_t physics_jobs;
  std::uint32_t theory_user_jobs;
};

void CheckCaps(const ClusterState& state, const Caps& caps) {
  InUse use = LookAt(state);
  RC_ASSERT(use.cpus["qos q"] <= caps.qos_cpus);
  RC_ASSERT(use.cpus["qos q ada"] <= caps.user_cpus);
  RC_ASSERT(use.cpus["qos q bob"] <= caps.user_cpus);
  RC_ASSERT(use.memory["account physics"] <= caps.physics_memory * kGibibyte.value());
  RC_ASSERT(use.jobs["account physics"] <= caps.physics_jobs);
  RC_ASSERT(use.jobs["user theory ada"] <= caps.theory_user_jobs);
  RC_ASSERT(use.jobs["user theory bob"] <= caps.theory_user_jobs);
}

Caps AnyCaps() {
  return Caps{*rc::gen::inRange(0U, 20U), *rc::gen::inRange(0U, 12U), *rc::gen::inRange(0U, 30U),
              *rc::gen::inRange(0U, 6U), *rc::gen::inRange(0U, 4U)};
}

void Impose(PolicyWorld& world, const Caps& caps) {
  world.Add(PolicyKind::kQos, "q",
            {{"GrpTRES", absl::StrCat("cpu=", caps.qos_cpus)},
             {"MaxTRESPerUser", absl::StrCat("cpu=", caps.user_cpus)}});
  world.Add(PolicyKind::kAccount, "physics",
            {{"GrpTRES", absl::StrCat("mem=", caps.physics_memory, "G")},
             {"GrpJobs", absl::StrCat(caps.physics_jobs)}});
  world.Add(PolicyKind::kAccount, "theory",
            {{"Parent", "physics"}, {"MaxJobs", absl::StrCat(caps.theory_user_jobs)}});
}

void SubmitAny(PolicyWorld& world) {
  JobSpec spec = world.Spec(Tasks(*rc::gen::inRange(1U, 6U), *rc::gen::inRange(1U, 3U)));
  spec.qos = *rc::gen::element(std::string("q"), std::string());
  spec.account = *rc::gen::element(std::string("theory"), std::string("physics"), std::string());
  spec.user = *rc::gen::element(world.ada, world.bob);
  if (*rc::gen::arbitrary<bool>()) {
    spec.request.memory_per_cpu = kGibibyte * *rc::gen::inRange(1U, 4U);
  }
  if (*rc::gen::inRange(0, 4) == 0) {
    spec.array = ArraySpec{{{0, *rc::gen::inRange(0U, 5U), 1}}, 0};
  }
  world.Submit(spec);
}

TEST(Limits, WhatJobsWithoutATimeLimitPromiseOfABudgetIsNothingAndGoesAgain) {
  TresUse promised;
  TresUse gpu;
  gpu.gpus["NVIDIA H200"] = 1000;
  Add(promised, gpu, 0);
  Add(promised, gpu, 0);
  Subtract(promised, gpu, 0);
  Subtract(promised, gpu, 0);
  EXPECT_TRUE(promised == TresUse());
}

// Ends the first job that runs, if one does.
void EndTheFirst(PolicyWorld& world) {
  for (const auto& [id, job] : world.state.jobs()) {
    if (job.attempt.has_value()) {
      world.End(id);
      return;
    }
  }
}

TEST(Limits, NoneIsEverExceededInAnyHistory) {
  rc::check("limits hold at every instant", [] {
    PolicyWorld world;
    for (int i = 1; i <= 3; ++i) {
      world.AddNode(absl::StrCat("n", i), {.cores = 6, .threads = *rc::gen::inRange(1U, 3U)});
    }
    const Caps caps = AnyCaps();
    Impose(world, caps);
    std::vector<Plan> old_plans;
    const int turns = *rc::gen::inRange(1, 40);
    for (int turn = 0; turn < turns; ++turn) {
      world.now += std::chrono::minutes(1);
      const int kind = *rc::gen::inRange(0, 10);
      if (kind < 4) {
        SubmitAny(world);
      } else if (kind < 6) {
        world.Schedule();
      } else if (kind < 7) {
        old_plans.push_back(world.MakePlanNow());
      } else if (kind < 8 && !old_plans.empty()) {
        world.Take(TakePlan{*rc::gen::elementOf(old_plans)});
      } else {
        EndTheFirst(world);
      }
      CheckCaps(world.state, caps);
    }
  });
}

}  // namespace
}  // namespace muster::core
