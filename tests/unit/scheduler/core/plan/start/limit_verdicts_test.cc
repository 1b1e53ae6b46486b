// Jobs that a limit stops wherever they could start are looked at once, and the plan is the one of
// a cycle that looks at each.
#include "scheduler/core/plan/start/limit_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/plan/start/job_starter.h"
#include "tests/unit/scheduler/core/plan/cycle/one_cycle.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::OneCycle;
using testing::PolicyWorld;
using testing::Tasks;

// Whole nodes of four kinds, each with more cores than the QOS may have.
class LimitVerdictsTest : public ::testing::Test {
 protected:
  LimitVerdictsTest() {
    for (std::uint32_t cores = 4; cores < 8; ++cores) {
      world_.AddNode(absl::StrCat("n", cores), {.cores = cores});
    }
    world_.Add(PolicyKind::kQos, "small", {{"GrpTRES", "cpu=3"}});
    world_.Add(PolicyKind::kQos, "other", {{"GrpTRES", "cpu=3"}});
    world_.Add(PolicyKind::kQos, "free");
  }
  JobId Submit(const std::string& qos, const User& user, std::uint32_t cpus = 1) {
    JobSpec spec = world_.Spec(Tasks(1, cpus));
    spec.request.exclusive = true;
    spec.qos = qos;
    spec.user = user;
    return world_.Submit(spec);
  }

  PolicyWorld world_;
};

// A cycle in which jobs are tried one by one.
struct Trial {
  explicit Trial(const PolicyWorld& world, const Plan* last = nullptr)
      : cycle(world, last),
        verdicts(cycle.state.snapshot, cycle.state.availability, cycle.state.power),
        starter(cycle.state, verdicts) {}
  bool Try(JobId job, JobStarter& with) {
    limit.reset();
    return with.TryStart(cycle.Waiting(job), cycle.OptionOf(job), limit);
  }
  // How many places were looked for.
  std::uint64_t SearchesFor(JobId job) {
    const std::uint64_t before = starter.searches();
    Try(job, starter);
    return starter.searches() - before;
  }

  OneCycle cycle;
  ShapeVerdicts verdicts;
  JobStarter starter;
  std::optional<Reason> limit;
};

TEST_F(LimitVerdictsTest, JobsAlikeThatALimitStopsEverywhereAreSearchedForOnce) {
  const JobId first = Submit("small", world_.ada);
  const JobId second = Submit("small", world_.ada);
  const JobId third = Submit("small", world_.ada);
  Trial trial(world_);
  EXPECT_EQ(trial.SearchesFor(first), 4U) << "on one kind of nodes after the other";
  const std::optional<Reason> limit = trial.limit;
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(ToSentence(*limit), "qos small cpu: at most 3, it needs 4");
  EXPECT_EQ(trial.SearchesFor(second), 0U);
  EXPECT_EQ(trial.limit, limit);
  EXPECT_EQ(trial.SearchesFor(third), 0U);
  EXPECT_EQ(trial.limit, limit);
}

TEST_F(LimitVerdictsTest, OneOfAnotherShapeUserAccountOrQosIsSearchedFor) {
  world_.Add(PolicyKind::kAccount, "physics");
  const JobId first = Submit("small", world_.ada);
  const JobId of_bob = Submit("small", world_.bob);
  const JobId larger = Submit("small", world_.ada, 2);
  const JobId other = Submit("other", world_.ada);
  JobSpec spec = *world_.state.FindJob(first)->spec;
  spec.account = "physics";
  const JobId charged = world_.Submit(spec);
  Trial trial(world_);
  for (const JobId job : {first, of_bob, larger, other, charged}) {
    EXPECT_EQ(trial.SearchesFor(job), 4U) << job.value();
    EXPECT_EQ(trial.SearchesFor(job), 0U) << job.value();
  }
}

TEST_F(LimitVerdictsTest, WhatIsTakenOfTheNodesMakesItLookAgain) {
  const JobId first = Submit("small", world_.ada);
  const JobId second = Submit("small", world_.ada);
  const JobId starts = Submit("free", world_.bob);
  Trial trial(world_);
  EXPECT_EQ(trial.SearchesFor(first), 4U);
  EXPECT_TRUE(trial.Try(starts, trial.starter));
  EXPECT_EQ(trial.SearchesFor(second), 4U) << "on three kinds, and once in vain";
  trial.cycle.state.availability.TakeCores(3, 1, world_.now, world_.now + std::chrono::minutes(1));
  EXPECT_EQ(trial.SearchesFor(second), 3U);
  EXPECT_EQ(trial.SearchesFor(second), 0U);
}

TEST_F(LimitVerdictsTest, AJobThatWasPromisedNodesIsSearchedForByItself) {
  const JobId first = Submit("small", world_.ada);
  const JobId promised = Submit("small", world_.ada);
  Plan last;
  last.reservations.push_back({promised, world_.now, {ReservedNode{NodeId(4), 1}}});
  Trial trial(world_, &last);
  ASSERT_EQ(trial.cycle.snapshot().promised.size(), 1U);
  EXPECT_EQ(trial.SearchesFor(first), 4U);
  EXPECT_GT(trial.SearchesFor(promised), 0U);
}

void AddAnyNodes(PolicyWorld& world) {
  const int nodes = *rc::gen::inRange(1, 7);
  for (int i = 1; i <= nodes; ++i) {
    world.AddNode(absl::StrCat("n", i), {.numa = *rc::gen::inRange(1U, 3U),
                                         .cores = *rc::gen::inRange(1U, 5U),
                                         .threads = *rc::gen::inRange(1U, 3U),
                                         .gpus = *rc::gen::inRange(0U, 2U)});
  }
}

void AddAnyLimits(PolicyWorld& world) {
  const auto cpus = [] { return absl::StrCat("cpu=", *rc::gen::inRange(1, 30)); };
  world.Add(PolicyKind::kQos, "q", {{"GrpTRES", cpus()}, {"MaxTRESPerUser", cpus()}});
  world.Add(PolicyKind::kQos, "node", {{"MaxTRESPerNode", cpus()}});
  world.Add(PolicyKind::kAccount, "physics", {{"GrpTRES", cpus()}});
}

void SubmitAny(PolicyWorld& world) {
  JobSpec spec = world.Spec(Tasks(*rc::gen::inRange(1U, 4U), *rc::gen::inRange(1U, 4U)));
  ResourceRequest& request = spec.request;
  request.exclusive = *rc::gen::inRange(0, 3) == 0;
  if (*rc::gen::arbitrary<bool>()) {
    request.min_nodes = *rc::gen::inRange(1U, 3U);
    request.tasks = request.min_nodes;
    request.as_wide_as_fits = *rc::gen::inRange(0, 3) == 0;
    request.max_nodes = request.as_wide_as_fits ? request.min_nodes + 2 : request.min_nodes;
  }
  request.gpus_per_node.count = *rc::gen::inRange(0, 4) == 0 ? 1 : 0;
  spec.qos = *rc::gen::element(std::string("q"), std::string("node"), std::string());
  spec.account = *rc::gen::element(std::string("physics"), std::string());
  spec.user = *rc::gen::element(world.ada, world.bob);
  const int alike = *rc::gen::inRange(1, 5);
  for (int i = 0; i < alike; ++i) {
    world.Take(SubmitJob{absl::StrCat("t", world.events.size()), spec, testing::Script()});
  }
}

TEST(LimitVerdicts, PlansAreThoseOfACycleThatRemembersNoLimit) {
  std::uint64_t looked = 0;
  std::uint64_t saved = 0;
  rc::check("a remembered limit changes no plan", [&] {
    PolicyWorld world;
    AddAnyNodes(world);
    AddAnyLimits(world);
    for (int i = *rc::gen::inRange(1, 8); i > 0; --i) {
      SubmitAny(world);
    }
    Trial remembers(world);
    Trial forgets(world);
    std::uint64_t searches = 0;
    for (const WaitingJob& job : remembers.cycle.snapshot().waiting) {
      if (*rc::gen::inRange(0, 5) == 0) {
        const auto nodes = static_cast<std::uint32_t>(remembers.cycle.snapshot().nodes.size());
        const std::uint32_t node = *rc::gen::inRange(0U, nodes);
        for (Trial* trial : {&remembers, &forgets}) {
          trial->cycle.state.availability.TakeCores(node, 1, world.now, kHorizon);
        }
      }
      if (!remembers.verdicts.MayStart(remembers.cycle.OptionOf(job.id))) {
        continue;
      }
      JobStarter fresh(forgets.cycle.state, forgets.verdicts);
      RC_ASSERT(remembers.Try(job.id, remembers.starter) == forgets.Try(job.id, fresh));
      RC_ASSERT(remembers.limit == forgets.limit);
      searches += fresh.searches();
    }
    RC_ASSERT(remembers.cycle.Finish() == forgets.cycle.Finish());
    looked += remembers.starter.searches();
    saved += searches - remembers.starter.searches();
  });
  EXPECT_GT(looked, 0U);
  EXPECT_GT(saved, 0U);
}

}  // namespace
}  // namespace muster::core
