#include "scheduler/core/handle/nodes/mig_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/core/plan/mig_demand.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/core/mig/h200.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using ::testing::HasSubstr;
using testing::Only;
using testing::World;

// Nodes with H200s that Muster may divide, and the agents that do.
class Mig : public ::testing::Test {
 protected:
  Mig() { world_.config.mig = {{"all", "ALL", {}}}; }

  NodeId Register(const std::string& name, std::uint32_t gpus = 1) {
    Registration registration = World::RegistrationOf(name, {.cores = 16});
    testing::AddH200s(gpus, registration.machine);
    for (Gpu& gpu : registration.machine.gpus) {
      gpu.uuid = name + "-" + gpu.uuid;
    }
    for (MigGpu& gpu : registration.machine.mig) {
      gpu.whole.uuid = name + "-" + gpu.whole.uuid;
    }
    agents_[name] = registration;
    return world_.Take(RegisterAgent{registration}).node;
  }
  static ResourceRequest Gpus(const std::string& type, std::uint32_t count,
                              std::uint32_t nodes = 1) {
    ResourceRequest request = testing::Tasks(nodes);
    request.min_nodes = nodes;
    request.max_nodes = nodes;
    request.gpus_per_node = {type, count};
    return request;
  }
  JobId Submit(const std::string& type, std::uint32_t count = 1) {
    JobSpec spec = world_.Spec(Gpus(type, count));
    spec.time_limit = minutes(10);
    return world_.Submit(spec);
  }
  // A cycle, and what the loop does after it.
  Transition Cycle() {
    const Plan plan = world_.MakePlanNow();
    const std::vector<GpuWish> wishes =
        GpusWanted(*BuildSnapshot(world_.state, world_.now), plan, world_.config);
    if (HasWork(plan, world_.now)) {
      world_.Take(TakePlan{plan});
    }
    return world_.Take(LayOutGpus{wishes});
  }
  // The agent carries out what was ordered last for the GPU, or says why not.
  void Obey(const std::string& name, const std::string& gpu, const std::string& failure = "") {
    Registration& registration = agents_[name];
    const Node& node = *world_.state.FindNode(name);
    for (const GpuLayout& layout : node.gpu_layouts) {
      if (layout.gpu == gpu && layout.phase == LayoutPhase::kOrdered) {
        registration.layout = {layout.number, failure};
        if (failure.empty()) {
          Rebuild(layout, registration.machine);
        }
      }
    }
    world_.Take(LoseAgent{node.id, {}});
    world_.Take(RegisterAgent{registration});
  }
  static void Rebuild(const GpuLayout& layout, Machine& machine) {
    const MigGpu mig = *std::find_if(machine.mig.begin(), machine.mig.end(),
                                     [&](const MigGpu& g) { return g.whole.uuid == layout.gpu; });
    std::erase_if(machine.gpus, [&layout](const Gpu& gpu) {
      return gpu.uuid == layout.gpu || gpu.parent == layout.gpu;
    });
    if (layout.instances.empty()) {
      machine.gpus.push_back(mig.whole);
    }
    for (const MigInstance& instance : layout.instances) {
      Gpu gpu = mig.whole;
      gpu.uuid = "MIG-" + layout.gpu + std::to_string(instance.placement.start);
      gpu.parent = layout.gpu;
      gpu.instance = instance.profile;
      gpu.model += " MIG " + instance.profile;
      gpu.memory = kMebibyte * 16384;
      machine.gpus.push_back(gpu);
    }
  }
  [[nodiscard]] const std::vector<GpuLayout>& LayoutsOf(const std::string& name) const {
    return world_.state.FindNode(name)->gpu_layouts;
  }
  void Start(JobId job) {
    Cycle();
    ASSERT_EQ(world_.StateOf(job), JobState::kConfiguring);
    world_.TellStarted(world_.state.FindJob(job)->attempt->allocation.nodes[0].node, job);
  }
  void End(JobId job) {
    world_.TellEnded(world_.state.FindJob(job)->attempt->allocation.nodes[0].node, job, 2);
  }

  World world_;
  std::map<std::string, Registration> agents_;
};

TEST_F(Mig, AnIdleGpuIsDividedForAJobThatNamesAProfileAndMadeWholeForOneThatWantsIt) {
  Register("n1");
  const JobId job = Submit("1g.18gb", 3);
  const Transition ordered = Cycle();
  EXPECT_EQ(Only<DivideGpu>(ordered), (std::vector<DivideGpu>{{NodeId(1), "n1-GPU-0"}}));
  ASSERT_EQ(LayoutsOf("n1").size(), 1U);
  EXPECT_EQ(LayoutsOf("n1")[0].job, job);
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("short of 3 GPUs (has 0); GPU 0 of node n1 is being divided into 4 x "
                        "1g.18gb and 1 x 3g.71gb for job 1"));
  EXPECT_TRUE(Only<DivideGpu>(Cycle()).empty()) << "once is enough";
  Obey("n1", "n1-GPU-0");
  Start(job);
  Cycle();
  EXPECT_TRUE(LayoutsOf("n1").empty()) << "the job has had its turn";
  const JobId whole = Submit("");
  Cycle();
  ASSERT_EQ(LayoutsOf("n1").size(), 1U);
  EXPECT_EQ(LayoutsOf("n1")[0].phase, LayoutPhase::kWanted);
  EXPECT_THAT(ToSentence(world_.ReasonFor(whole)),
              HasSubstr("GPU 0 of node n1 is to be made whole for job 2 once the jobs there have "
                        "ended"));
  const JobId late = Submit("1g.18gb");
  EXPECT_TRUE(world_.MakePlanNow().starts.empty()) << "the first in the queue is not delayed";
  End(job);
  EXPECT_EQ(Only<DivideGpu>(Cycle()).size(), 1U);
  Obey("n1", "n1-GPU-0");
  Start(whole);
  End(whole);
  EXPECT_EQ(world_.StateOf(late), JobState::kPending);
  Cycle();
  Obey("n1", "n1-GPU-0");
  Start(late);
}

TEST_F(Mig, AGpuIsForNobodyFromTheOrderToItsAgentsWord) {
  Register("n1");
  Submit("1g.18gb");
  const Plan before = [&] {
    World other = world_;
    other.Submit(Gpus("", 1));
    return other.MakePlanNow();
  }();
  Cycle();
  ASSERT_EQ(before.starts.size(), 1U) << "of the whole GPU";
  const JobId whole = Submit("");
  EXPECT_TRUE(world_.MakePlanNow().starts.empty());
  // A plan that was made before the order starts nothing there.
  Plan late = before;
  late.starts[0].job = whole;
  world_.Take(TakePlan{late});
  EXPECT_EQ(world_.StateOf(whole), JobState::kPending);
}

TEST_F(Mig, WithoutTheTableNothingIsDividedAndTheJobIsRefused) {
  world_.config.mig.clear();
  Register("n1");
  SubmitJob submit;
  submit.token = "t";
  submit.spec = world_.Spec(Gpus("1g.18gb", 1));
  submit.program = testing::Script();
  submit.refuse_misfit = true;
  const Transition refused = world_.Take(submit);
  EXPECT_FALSE(refused.status.ok());
  Submit("1g.18gb");
  EXPECT_TRUE(Only<DivideGpu>(Cycle()).empty());
  world_.config.mig = {{"all", "ALL", {}}};
  Register("n2");
  EXPECT_TRUE(world_.Take(submit).status.ok());
}

TEST_F(Mig, AnOrderThatFailedIsToldAndTriedAgainOnlyLater) {
  Register("n1");
  const JobId job = Submit("1g.18gb");
  Cycle();
  Obey("n1", "n1-GPU-0", "Insufficient Permissions");
  EXPECT_THAT(ToSentence(world_.ReasonFor(job)),
              HasSubstr("GPU 0 of node n1 could not be divided into 4 x 1g.18gb and 1 x 3g.71gb "
                        "for job 1: Insufficient Permissions"));
  EXPECT_TRUE(Only<DivideGpu>(Cycle()).empty());
  const JobId whole = Submit("");
  Cycle();
  EXPECT_EQ(world_.StateOf(whole), JobState::kConfiguring) << "the GPU is as it was";
  world_.TellStarted(NodeId(1), whole);
  End(whole);
  world_.now += minutes(11);
  Cycle();
  EXPECT_EQ(Only<DivideGpu>(Cycle()).size() + LayoutsOf("n1").size(), 1U);
}

TEST_F(Mig, AnOrderIsSentAgainToAnAgentThatComesBackWithoutHavingObeyed) {
  const NodeId node = Register("n1");
  Submit("1g.18gb");
  Cycle();
  world_.Take(LoseAgent{node, {}});
  const Transition back = world_.Take(RegisterAgent{agents_["n1"]});
  EXPECT_EQ(Only<DivideGpu>(back), (std::vector<DivideGpu>{{node, "n1-GPU-0"}}));
}

TEST_F(Mig, ALayoutIsNotUndoneBeforeItsJobHasHadItsTurn) {
  Register("n1");
  const JobId job = Submit("1g.18gb");
  Cycle();
  SubmitJob urgent;
  urgent.token = "urgent";
  urgent.spec = world_.Spec(Gpus("", 1));
  urgent.spec.nice = -100;  // before the other from now on
  urgent.by_operator = true;
  urgent.program = testing::Script();
  ASSERT_TRUE(world_.Take(urgent).status.ok());
  Obey("n1", "n1-GPU-0");
  EXPECT_EQ(LayoutsOf("n1")[0].phase, LayoutPhase::kMade);
  EXPECT_TRUE(Only<DivideGpu>(Cycle()).empty());
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
}

TEST_F(Mig, JobsOnOtherGpusOfTheNodeGoOnWhereTheyAre) {
  Register("n1", 2);
  const JobId other = Submit("");
  Start(other);
  const std::uint32_t position =
      world_.state.FindJob(other)->attempt->allocation.nodes[0].gpus[0].gpu;
  const std::string uuid = world_.state.FindNode("n1")->machine->gpus[position].uuid;
  Submit("1g.18gb", 7);
  Cycle();
  ASSERT_EQ(LayoutsOf("n1").size(), 1U);
  EXPECT_NE(LayoutsOf("n1")[0].gpu, uuid);
}

TEST_F(Mig, AJobOfTwoNodesHasAGpuOfEachDivided) {
  Register("n1");
  Register("n2");
  JobSpec spec = world_.Spec(Gpus("3g.71gb", 2, 2));
  spec.time_limit = minutes(10);
  const JobId job = world_.Submit(spec);
  EXPECT_EQ(Only<DivideGpu>(Cycle()).size(), 2U);
  Obey("n1", "n1-GPU-0");
  Obey("n2", "n2-GPU-0");
  Cycle();
  EXPECT_EQ(world_.StateOf(job), JobState::kConfiguring);
}

TEST_F(Mig, TheSitesLayoutsBindThePlanner) {
  world_.config.mig = {{"all", "ALL", {{{"3g.71gb", "3g.71gb"}}}}};
  Register("n1");
  const JobId never = Submit("1g.18gb");
  EXPECT_EQ(world_.ReasonFor(never).verdict, ReasonClass::kNever);
  Submit("3g.71gb");
  Cycle();
  ASSERT_EQ(LayoutsOf("n1").size(), 1U);
  EXPECT_EQ(InstancesText(LayoutsOf("n1")[0].instances), "2 x 3g.71gb");
}

}  // namespace
}  // namespace muster::core
