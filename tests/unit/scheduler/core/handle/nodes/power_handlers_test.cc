#include "scheduler/core/handle/nodes/power_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/handle/nodes/power_watch.h"
#include "scheduler/core/plan/power_demand.h"
#include "scheduler/core/state/state_hash.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::seconds;
using testing::At;
using ::testing::HasSubstr;
using testing::Only;
using testing::Tasks;
using testing::World;

// Two nodes, of which one takes jobs of up to four cores at a time.
class Power : public ::testing::Test {
 protected:
  Power() {
    PowerClass kind;
    kind.name = "all";
    kind.nodes = "n[1-2]";
    kind.idle = seconds(600);
    kind.suspend_time = seconds(30);
    kind.boot_time = seconds(120);
    kind.resume_timeout = seconds(300);
    world_.config.power.push_back(kind);
    first_ = Register("n1");
    second_ = Register("n2");
  }

  NodeId Register(const std::string& name, const std::string& boot_id = "first") {
    Registration registration = World::RegistrationOf(name, {});
    registration.boot_id = boot_id;
    return world_.Take(RegisterAgent{registration}).node;
  }
  // What the loop does after a cycle.
  Transition Watch() {
    const Plan plan = world_.MakePlanNow();
    watch_.Want(NodesWanted(*BuildSnapshot(world_.state, world_.now), plan, world_.config));
    const auto orders = watch_.Look(world_.state, &plan, world_.config, world_.now);
    return orders.has_value() ? world_.Take(*orders) : Transition();
  }
  Transition Order(std::vector<NodeId> suspend, std::vector<NodeId> resume) {
    return world_.Take(SwitchNodes{std::move(suspend), std::move(resume)});
  }
  void Pass(std::int64_t time) { world_.now += seconds(time); }
  [[nodiscard]] PowerState StateOf(NodeId node) const {
    return world_.state.power().Of(node).state;
  }
  // Off, as one that was switched off a while ago.
  void SwitchOff(NodeId node) {
    Order({node}, {});
    world_.Take(LoseAgent{node, {}});
    Pass(30);
    Order({}, {});
    ASSERT_EQ(StateOf(node), PowerState::kOff);
  }

  World world_;
  PowerWatch watch_;
  NodeId first_;
  NodeId second_;
};

TEST_F(Power, AnIdleNodeIsOrderedOffAndIsOffOnceItsAgentIsSilent) {
  Watch();
  Pass(600);
  const Transition off = Watch();
  EXPECT_EQ(Only<SwitchPower>(off).size(), 2U);
  EXPECT_EQ(StateOf(first_), PowerState::kPoweringDown);
  EXPECT_TRUE(Only<SwitchPower>(Watch()).empty()) << "once is enough";
  world_.Take(LoseAgent{first_, {}});
  Pass(30);
  Watch();
  EXPECT_EQ(StateOf(first_), PowerState::kOff);
  EXPECT_EQ(StateOf(second_), PowerState::kPoweringDown) << "its silence may not be noticed yet";
  Pass(30);
  Watch();
  EXPECT_EQ(StateOf(second_), PowerState::kOn) << "its agent still answers";
}

TEST_F(Power, NoJobStartsOnANodeThatIsOffAndWhoseSilenceIsNotNoticedYet) {
  Order({first_, second_}, {});
  Pass(31);
  Watch();
  const JobId job = world_.Submit(Tasks(1));
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kPending);
  world_.Take(LoseAgent{first_, seconds(29)});
  Watch();
  EXPECT_EQ(StateOf(first_), PowerState::kOff);
}

TEST_F(Power, ANodeOnWhichAJobRunsOrARunIsLeftStaysOn) {
  world_.Submit(Tasks(1));
  world_.Schedule();
  Watch();
  Pass(3600);
  const Transition off = Watch();
  EXPECT_EQ(Only<SwitchPower>(off).size(), 1U);
  EXPECT_EQ(Only<SwitchPower>(Order({first_, second_}, {})).size(), 0U);
}

TEST_F(Power, AJobWaitsForANodeThatIsOffAndThePlanCountsItsBoot) {
  SwitchOff(first_);
  SwitchOff(second_);
  const JobId job = world_.Submit(Tasks(4));
  const Plan plan = world_.MakePlanNow();
  EXPECT_TRUE(plan.starts.empty());
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations.front().start, world_.now + seconds(120));
  EXPECT_EQ(plan.reservations.front().nodes.front().node, first_);
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("2 switched off; waits for node n1 to boot"));
  const Transition on = Watch();
  ASSERT_EQ(Only<SwitchPower>(on).size(), 1U);
  EXPECT_EQ(Only<SwitchPower>(on).front(), (SwitchPower{first_, true}));
  Pass(50);
  EXPECT_EQ(world_.MakePlanNow().reservations.front().start, world_.now + seconds(70));
  EXPECT_TRUE(Only<SwitchPower>(Watch()).empty()) << "once is enough";
  Register("n1", "second");
  EXPECT_EQ(StateOf(first_), PowerState::kOn);
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
  EXPECT_EQ(world_.state.power().Of(first_).boots, std::vector<Duration>{seconds(50)});
}

TEST_F(Power, AJobWithAPlaceOnANodeThatBootsHasNoOtherSwitchedOnInAnyOrder) {
  for (const QueueRule order : {QueueRule::kPrompt, QueueRule::kPriority}) {
    SCOPED_TRACE(static_cast<int>(order));
    World world;
    world.config = world_.config;
    world.config.priority.order = order;
    std::vector<NodeId> nodes;
    for (const char* name : {"n1", "n2"}) {
      Registration registration = World::RegistrationOf(name, {});
      registration.boot_id = "first";
      nodes.push_back(world.Take(RegisterAgent{registration}).node);
    }
    world.Take(SwitchNodes{nodes, {}});
    world.Take(LoseAgent{nodes[0], {}});
    world.Take(LoseAgent{nodes[1], {}});
    world.now += seconds(30);
    world.Take(SwitchNodes{{}, {}});
    world.Submit(Tasks(4));
    PowerWatch watch;
    Plan plan = world.MakePlanNow();
    std::vector<NodeId> on;
    for (int cycle = 0; cycle < 4; ++cycle) {
      const auto snapshot = BuildSnapshot(world.state, world.now, &plan);
      plan = MakePlan(*snapshot, world.config);
      world.Take(TakePlan{plan});
      watch.Want(NodesWanted(*snapshot, plan, world.config));
      if (const auto orders = watch.Look(world.state, &plan, world.config, world.now)) {
        for (const SwitchPower& order_to : Only<SwitchPower>(world.Take(*orders))) {
          on.push_back(order_to.node);
        }
      }
      world.now += seconds(20);
    }
    EXPECT_EQ(on, std::vector<NodeId>{nodes[0]});
  }
}

TEST_F(Power, APlanOfBeforeStartsNothingOnANodeThatIsBeingSwitchedOff) {
  const JobId job = world_.Submit(Tasks(4));
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.starts.size(), 1U);
  const NodeId node = plan.starts.front().allocation.nodes.front().node;
  Order({node}, {});
  world_.Take(TakePlan{plan});
  EXPECT_EQ(world_.StateOf(job), JobState::kPending);
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring) << "on the other one";
}

TEST_F(Power, ANodeThatDoesNotBootInTimeIsDrainedWithThatReasonAndItsJobGoesElsewhere) {
  SwitchOff(first_);
  SwitchOff(second_);
  const JobId job = world_.Submit(Tasks(4));
  Watch();
  Pass(300);
  const Transition late = Watch();
  EXPECT_EQ(StateOf(first_), PowerState::kFailed);
  const Node& node = *world_.state.FindNode(first_);
  EXPECT_TRUE(node.drained);
  EXPECT_EQ(node.drain_reason, "did not boot within 300 s");
  EXPECT_EQ(Only<SwitchPower>(Watch()), std::vector<SwitchPower>({{second_, true}}));
  Register("n2", "second");
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
  // Somebody mended the first.
  world_.Take(DrainNode{"n1", false, ""});
  EXPECT_EQ(StateOf(first_), PowerState::kOff);
  EXPECT_FALSE(node.drained);
}

TEST_F(Power, AnAgentThatComesBackWhileItsNodeShutsDownChangesNothingButABootDoes) {
  Order({first_}, {});
  world_.Take(LoseAgent{first_, {}});
  Register("n1", "first");
  EXPECT_EQ(StateOf(first_), PowerState::kPoweringDown);
  world_.Take(LoseAgent{first_, {}});
  Register("n1", "second");
  EXPECT_EQ(StateOf(first_), PowerState::kOn);
}

TEST_F(Power, ANodeThatAReservationWillNeedStaysOnOrIsSwitchedOnInTime) {
  Watch();
  Reservation reservation;
  reservation.name = "course";
  reservation.start = world_.now + seconds(700);
  reservation.end = world_.now + seconds(1700);
  reservation.nodes = "n1";
  reservation.users = {"ada"};
  world_.Take(ConfigurePolicy{{reservation}, User{0, 0, "root"}, "test"});
  Watch();
  Pass(600);
  EXPECT_EQ(Only<SwitchPower>(Watch()), std::vector<SwitchPower>({{second_, false}}));
  SwitchOff(first_);
  // 70 s are left, and a boot takes 120.
  EXPECT_EQ(Only<SwitchPower>(Watch()), std::vector<SwitchPower>({{first_, true}}));
}

TEST_F(Power, BootTimesOfTheClassAreLearned) {
  for (const std::int64_t boot : {40, 50, 60}) {
    SwitchOff(first_);
    Order({}, {first_});
    Pass(boot);
    Register("n1", std::to_string(boot));
  }
  Order({second_}, {});
  EXPECT_EQ(world_.state.power().Of(second_).boot, seconds(60));
}

TEST_F(Power, AControllerThatStartsSaysAgainWhatIsUnderWay) {
  SwitchOff(first_);
  Order({second_}, {first_});
  const Transition begun = world_.Take(BeginEpoch{});
  EXPECT_EQ(Only<SwitchPower>(begun), std::vector<SwitchPower>({{first_, true}, {second_, false}}));
}

TEST_F(Power, AForgottenNodeIsForgottenAndAReplayGivesTheSameState) {
  SwitchOff(first_);
  SwitchOff(second_);
  world_.Take(ForgetNode{"n1"});
  EXPECT_EQ(world_.state.power().nodes().size(), 1U);
  ClusterState again;
  for (const Event& event : world_.events) {
    again.Apply(event);
  }
  EXPECT_EQ(HashOf(again), HashOf(world_.state));
  EXPECT_EQ(again.power().away(), world_.state.power().away());
}

// A third node has the feature "big". A job has the first for long, and one for all three waits.
class PowerBehindThePlan : public Power {
 protected:
  PowerBehindThePlan() {
    world_.config.power.front().nodes = "n[1-3]";
    world_.config.backfill = Backfill::kEasy;
    Registration big = World::RegistrationOf("n3", {});
    big.boot_id = "first";
    big.features = {"big"};
    third_ = world_.Take(RegisterAgent{big}).node;
    world_.Submit(Lasting(4, std::chrono::hours(240)));
    world_.Schedule();
    JobSpec wide = Lasting(12, std::chrono::hours(1));
    wide.request.min_nodes = wide.request.max_nodes = 3;
    world_.Submit(wide);
  }
  JobSpec Lasting(std::uint32_t tasks, Duration limit) {
    JobSpec spec = world_.Spec(Tasks(tasks));
    spec.time_limit = limit;
    return spec;
  }
  std::vector<NodeId> SwitchedOn() {
    std::vector<NodeId> nodes;
    for (const SwitchPower& order : Only<SwitchPower>(Watch())) {
      EXPECT_TRUE(order.on);
      nodes.push_back(order.node);
    }
    return nodes;
  }

  NodeId third_;
};

TEST_F(PowerBehindThePlan, AJobThatFitsBeforeAnothersPlaceHasANodeSwitchedOn) {
  SwitchOff(second_);
  SwitchOff(third_);
  EXPECT_TRUE(SwitchedOn().empty()) << "the job for three nodes has time";
  const JobId job = world_.Submit(Lasting(1, std::chrono::hours(1)));
  ASSERT_EQ(world_.MakePlanNow().reservations.size(), 1U);
  EXPECT_EQ(SwitchedOn(), std::vector<NodeId>{second_});
  Pass(50);
  EXPECT_TRUE(SwitchedOn().empty()) << "once is enough";
  Register("n2", "second");
  world_.Schedule();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
}

TEST_F(PowerBehindThePlan, AJobThatWouldDelayAnothersPlaceHasNoneSwitchedOn) {
  SwitchOff(second_);
  SwitchOff(third_);
  world_.Submit(Lasting(1, std::chrono::hours(480)));
  EXPECT_TRUE(SwitchedOn().empty());
}

TEST_F(PowerBehindThePlan, AnIdleNodeThatTheJobCannotUseIsNotTakenForOneThatItCan) {
  SwitchOff(third_);
  JobSpec spec = Lasting(1, std::chrono::hours(1));
  spec.request.constraint.every.postfix = {{FeatureOp::kHas, "big"}};
  world_.Submit(spec);
  EXPECT_EQ(SwitchedOn(), std::vector<NodeId>{third_});
}

TEST_F(PowerBehindThePlan, SmallJobsShareTheNodeThatIsSwitchedOnForThem) {
  SwitchOff(second_);
  SwitchOff(third_);
  for (int i = 0; i < 4; ++i) {
    world_.Submit(Lasting(1, std::chrono::hours(1)));
  }
  EXPECT_EQ(SwitchedOn(), std::vector<NodeId>{second_});
  world_.Submit(Lasting(1, std::chrono::hours(1)));
  EXPECT_EQ(SwitchedOn(), std::vector<NodeId>{third_});
}

TEST_F(PowerBehindThePlan, NoMoreNodesAreWantedThanMayBeOnAtOnce) {
  SwitchOff(second_);
  SwitchOff(third_);
  JobSpec both = Lasting(8, std::chrono::hours(1));
  both.request.min_nodes = both.request.max_nodes = 2;
  world_.Submit(both);
  const auto wanted = [this] {
    return NodesWanted(*BuildSnapshot(world_.state, world_.now), world_.MakePlanNow(),
                       world_.config);
  };
  EXPECT_EQ(wanted(), (std::vector<NodeId>{second_, third_}));
  world_.config.power.front().most_on = 2;
  EXPECT_TRUE(wanted().empty()) << "the first is on, so that the two never are beside it";
  JobSpec spec = Lasting(1, std::chrono::hours(1));
  spec.request.constraint.every.postfix = {{FeatureOp::kHas, "big"}};
  world_.Submit(spec);
  EXPECT_EQ(wanted(), std::vector<NodeId>{third_}) << "which holds no later job up";
}

TEST_F(PowerBehindThePlan, APlaceCountsOnNoMoreNodesThanMayBeOnAtOnce) {
  world_.config.power.front().most_on = 2;
  JobSpec both = Lasting(8, std::chrono::hours(1));
  both.request.min_nodes = both.request.max_nodes = 2;
  const JobId job = world_.Submit(both);
  SwitchOff(second_);
  SwitchOff(third_);
  const Plan plan = world_.MakePlanNow();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations.front().job, job) << "the one for three nodes never starts";
  EXPECT_EQ(plan.reservations.front().nodes.front().node, first_) << "beside which one may be on";
  EXPECT_GE(plan.reservations.front().start, world_.now + std::chrono::hours(239));
  world_.config.power.front().most_on = 3;
  const Plan wider = world_.MakePlanNow();
  ASSERT_EQ(wider.reservations.size(), 1U);
  EXPECT_NE(wider.reservations.front().job, job);
}

}  // namespace
}  // namespace muster::core
