// A cycle that remembers the cycles before it makes the very plan of one that remembers nothing.
#include "scheduler/core/plan/planner_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/watchdog.h"
#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core {
namespace {

using testing::At;
using testing::PolicyWorld;
using testing::Shape;

constexpr std::uint64_t kSeeds = 40;
constexpr int kTurns = 40;

// A cluster of some dozen nodes under a random load, planned both ways after every change.
class Twice {
 public:
  explicit Twice(std::uint64_t seed) : random_(seed) {
    world_.config.backfill = Chance(70) ? Backfill::kConservative : Backfill::kHybrid;
    world_.config.reservations_max = Number(0, 30);
    world_.config.priority.weight_age = Chance(30) ? 500 : 0;
    world_.config.priority.weight_job_size = Chance(30) ? 500 : 0;
    world_.config.priority.order = Chance(15)   ? QueueRule::kDrf
                                   : Chance(50) ? QueueRule::kPrompt
                                                : QueueRule::kPriority;
    world_.config.prompt.slack = std::chrono::seconds(Number(0, 4000));
    world_.config.prompt.patience = std::chrono::seconds(Number(0, 4000));
    world_.config.prompt.promises = Number(0, 40);
    users_ = Chance(30) && world_.config.priority.order == QueueRule::kPriority;
    const std::uint32_t nodes = Number(4, 40);
    const bool alike = Chance(60);
    for (std::uint32_t i = 1; i <= nodes; ++i) {
      AddNode(absl::StrCat("n", i), alike);
    }
    if (seed % 2 == 0) {
      world_.config.network = testing::MakeNetwork(nodes, Number(2, 6));
    }
    if (Chance(30)) {
      world_.Add(PolicyKind::kPartition, "all", {{"Nodes", "ALL"}, {"Default", "YES"}});
      world_.Add(PolicyKind::kPartition, "few", {{"Nodes", "n[1-3]"}});
      world_.Add(PolicyKind::kQos, "low");
      world_.Add(PolicyKind::kQos, "high", {{"Preempt", "low"}, {"Priority", "100"}});
      has_policy_ = true;
    }
  }

  void Turn() {
    world_.now += std::chrono::seconds(Chance(80) ? Number(0, 20) : Number(0, 3000));
    for (std::uint32_t i = Number(0, 6); i > 0; --i) {
      world_.Submit(AnySpec());
    }
    EndSome();
    if (Chance(4)) {
      world_.Take(DrainNode{AnyNode(), Chance(50), "maintenance"});
    }
    if (world_.config.network != nullptr && Chance(8)) {
      NarrowSomeLink();
    }
    if (Chance(2)) {
      AddNode(absl::StrCat("x", world_.events.size()), true);
    }
    if (Chance(2)) {
      world_.Take(LoseAgent{world_.state.FindNode(AnyNode())->id});
    }
    if (has_policy_ && Chance(3)) {
      world_.Set(PolicyKind::kPartition, "few",
                 {{"Nodes", absl::StrCat("n[1-", Number(1, 4), "]")}});
    }
    Plan();
  }

  [[nodiscard]] int kept() const { return kept_; }
  [[nodiscard]] int reserved() const { return reserved_; }

 private:
  std::uint32_t Number(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (std::uint64_t{high} - low + 1));
  }
  bool Chance(std::uint32_t percent) { return Number(1, 100) <= percent; }

  void AddNode(const std::string& name, bool alike) {
    Shape shape;
    shape.numa = 2;
    shape.cores = alike ? 4 : Number(1, 4);
    shape.threads = alike ? 1 : Number(1, 2);
    shape.gpus = alike ? 1 : Number(0, 2);
    world_.AddNode(name, shape);
    names_.push_back(name);
  }
  std::string AnyNode() { return names_[Number(0, static_cast<std::uint32_t>(names_.size()) - 1)]; }

  void NarrowSomeLink() {
    const std::vector<NetworkSwitch>& switches = world_.config.network->switches;
    const auto last = static_cast<std::uint32_t>(switches.size()) - 1;
    DrainNode command{switches[Number(1, last)].name, Chance(60), "half its cables"};
    command.link_to = switches[Number(1, last)].name;
    world_.Take(command);
  }

  JobSpec AnySpec() {
    ResourceRequest request;
    request.tasks = Number(1, 8);
    request.cpus_per_task = Number(1, 8);
    if (Chance(40)) {
      request.min_nodes = Number(1, 5);
      request.tasks = Chance(50) ? request.min_nodes : request.min_nodes * Number(1, 3);
      request.max_nodes = Chance(70) ? request.min_nodes : 0;
    }
    request.gpus_per_task.count = Chance(20) ? 1 : 0;
    request.exclusive = Chance(5);
    request.exclusive_user = users_ && Chance(10);
    if (Chance(10)) {
      request.memory_per_node = kGibibyte * Number(1, 12);
    }
    if (Chance(4)) {
      request.nodelist = {AnyNode()};
    } else if (Chance(4)) {
      request.exclude = {AnyNode()};
    }
    if (world_.config.network != nullptr && Chance(30)) {
      request.switches = Number(1, 2);
      request.switches_wait = std::chrono::minutes(Number(0, 30));
    }
    if (world_.config.network != nullptr && request.min_nodes == 4 && request.nodelist.empty()) {
      request.segment = Chance(60) ? 2 : 0;
    }
    JobSpec spec = world_.Spec(request);
    spec.user = Chance(70) ? world_.ada : world_.bob;
    spec.time_limit = std::chrono::minutes(Chance(90) ? 5 * Number(1, 12) : 0);
    spec.nice = static_cast<std::int32_t>(Number(0, 2));
    if (has_policy_) {
      spec.partition = Chance(15) ? "few" : Chance(10) ? "few,all" : "";
      spec.qos = Chance(15) ? "high" : Chance(40) ? "low" : "";
    }
    return spec;
  }

  // Jobs end when they like; some stay beyond their limit.
  void EndSome() {
    std::vector<JobId> running;
    for (const auto& [id, job] : world_.state.jobs()) {
      if (job.attempt.has_value()) {
        running.push_back(id);
      }
    }
    const std::uint32_t percent = Number(0, 12);
    for (const JobId job : running) {
      if (Chance(percent)) {
        const Attempt attempt = *world_.state.FindJob(job)->attempt;
        for (const NodeAllocation& part : attempt.allocation.nodes) {
          world_.TellStarted(part.node, job);
          world_.TellEnded(part.node, job, 2);
        }
      } else if (Chance(2)) {
        world_.Take(CancelJob{job, std::nullopt, world_.ada});
      }
    }
  }

  void Plan() {
    const auto snapshot =
        BuildSnapshot(world_.state, world_.now, last_.get(), world_.config.network);
    const muster::Plan whole = MakePlan(*snapshot, world_.config);
    const muster::Plan remembered = MakePlan(snapshot, world_.config, memory_);
    ASSERT_EQ(remembered.hash, whole.hash);
    ASSERT_EQ(remembered, whole);
    // The whole of promise 8: what is left waiting fits nowhere that is idle.
    // In the order called prompt what started jobs left is free in the cycle after, which follows.
    const bool comes_again =
        whole.wake != kNoTime && whole.wake <= world_.now + std::chrono::seconds(1);
    for (const OverlookedJob& job : FindOverlooked(*snapshot, whole, world_.config)) {
      if (world_.config.priority.order == QueueRule::kPrompt && comes_again) {
        continue;
      }
      const auto left =
          std::find_if(whole.waiting.begin(), whole.waiting.end(),
                       [&](const LeftWaiting& waiting) { return waiting.job == job.job; });
      const ResourceRequest& asks = world_.state.FindJob(job.job)->spec->request;
      ADD_FAILURE() << "job " << ToString(job.job) << " of " << asks.tasks << " tasks of "
                    << asks.cpus_per_task << " threads would fit on " << job.nodes.size()
                    << " nodes, node " << ToString(job.nodes[0])
                    << " first, and waits: " << Name(left->reason.kind) << ": "
                    << ToSentence(left->reason);
    }
    kept_ += memory_.kept() ? 1 : 0;
    reserved_ += static_cast<int>(whole.reservations.size());
    last_ = std::make_unique<muster::Plan>(whole);
    if (Chance(85)) {
      world_.Take(TakePlan{whole});
    }
  }

  std::mt19937_64 random_;
  PolicyWorld world_;
  bool has_policy_ = false;
  bool users_ = false;  // some ask for nodes with jobs of their user alone
  std::vector<std::string> names_;
  PlannerMemory memory_;
  std::unique_ptr<muster::Plan> last_;
  int kept_ = 0;
  int reserved_ = 0;
};

TEST(PlannerMemory, NeverChangesAPlan) {
  int kept = 0;
  int reserved = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Twice twice(seed);
    for (int turn = 0; turn < kTurns && !::testing::Test::HasFatalFailure(); ++turn) {
      SCOPED_TRACE(absl::StrCat("turn ", turn));
      twice.Turn();
    }
    kept += twice.kept();
    reserved += twice.reserved();
  }
  // Else nothing was put to the test.
  EXPECT_GT(kept, static_cast<int>(kSeeds) * kTurns / 2);
  EXPECT_GT(reserved, static_cast<int>(kSeeds) * kTurns);
}

TEST(PlannerMemory, StartsAfreshOnAnotherNetwork) {
  PolicyWorld world;
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    world.AddNode(name);
  }
  world.Submit(testing::Tasks(1));
  PlannerMemory memory;
  const auto network = testing::MakeNetwork(4, 2);
  MakePlan(BuildSnapshot(world.state, At(2000), nullptr, network), world.config, memory);
  MakePlan(BuildSnapshot(world.state, At(2001), nullptr, network), world.config, memory);
  EXPECT_TRUE(memory.kept());
  MakePlan(BuildSnapshot(world.state, At(2002), nullptr, testing::MakeNetwork(4, 2)), world.config,
           memory);
  EXPECT_FALSE(memory.kept());
}

TEST(PlannerMemory, StartsAfreshWhenTheClockGoesBack) {
  PolicyWorld world;
  world.AddNode("n1");
  world.Submit(testing::Tasks(1));
  PlannerMemory memory;
  MakePlan(BuildSnapshot(world.state, At(2000)), world.config, memory);
  MakePlan(BuildSnapshot(world.state, At(2001)), world.config, memory);
  EXPECT_TRUE(memory.kept());
  const auto earlier = BuildSnapshot(world.state, At(1500));
  EXPECT_EQ(MakePlan(earlier, world.config, memory), MakePlan(*earlier, world.config));
  EXPECT_FALSE(memory.kept());
}

}  // namespace
}  // namespace muster::core
