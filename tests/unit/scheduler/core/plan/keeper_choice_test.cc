// Of nodes that are equal for a job it gets those that keep its image and its data, and nothing
// else changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/core/plan/planner.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/plan/node_data.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::MakeNetwork;
using testing::MakeNode;
using testing::Normal;
using testing::Tasks;

const std::string kDigest = "sha256:" + std::string(64, 'a');
const std::string kImage = "team/app:v1@" + kDigest;

ResourceRequest OnNodes(std::uint32_t nodes) {
  ResourceRequest request = Tasks(nodes);
  request.min_nodes = request.max_nodes = nodes;
  return request;
}

// Nodes of four cores that run containers, numbered from 1; jobs of ada.
struct Images {
  Snapshot snapshot;
  User ada{1000, 1000, "ada"};

  explicit Images(std::uint32_t nodes) {
    snapshot.now = testing::At(1000);
    for (std::uint32_t id = 1; id <= nodes; ++id) {
      NodeSnapshot node = MakeNode(id, {.cores = 4});
      node.features = {"containers", "staging"};
      snapshot.nodes.push_back(std::move(node));
    }
  }
  Images& Keep(std::uint32_t node, std::uint32_t uid = 1000) {
    snapshot.nodes[node - 1].kept.push_back(MarkOfImage(uid, kImage));
    return *this;
  }
  Images& KeepData(std::uint32_t node, const std::string& source) {
    snapshot.nodes[node - 1].kept.push_back(MarkOfData(1000, source));
    return *this;
  }
  void Submit(const ResourceRequest& request, const std::string& image, int minutes = 0,
              const std::vector<std::string>& data = {}) {
    JobSpec spec;
    spec.node_data = data;
    spec.user = ada;
    spec.request = request;
    spec.container.image = image;
    spec.time_limit = std::chrono::minutes(minutes);
    WaitingJob job;
    job.id = job.submission = JobId(snapshot.waiting.size() + 1);
    job.spec = std::make_shared<const JobSpec>(*Normalise(spec, SchedulerConfig()));
    snapshot.waiting.push_back(std::move(job));
  }
  [[nodiscard]] Plan Make() const { return MakePlan(snapshot, SchedulerConfig()); }
  // Where the only job starts: "n1 n3".
  [[nodiscard]] std::string Start() const {
    const Plan plan = Make();
    std::string text;
    for (std::size_t i = 0; !plan.starts.empty() && i < plan.starts[0].allocation.nodes.size();
         ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " ", plan.starts[0].allocation.nodes[i].name);
    }
    return text;
  }
};

TEST(KeeperChoice, OfEqualNodesTheOneThatKeepsTheImageIsTaken) {
  Images images(4);
  images.Keep(3).Submit(Tasks(1), kImage);
  EXPECT_EQ(images.Start(), "n3");
}

TEST(KeeperChoice, AnotherNameOfTheSameDigestIsTheSameImage) {
  Images images(3);
  images.Keep(2).Submit(Tasks(1), "docker://mirror/app@" + kDigest);
  EXPECT_EQ(images.Start(), "n2");
}

TEST(KeeperChoice, AnotherUsersImageIsNobodyElses) {
  Images images(3);
  images.Keep(2, 1001).Submit(Tasks(1), kImage);
  EXPECT_EQ(images.Start(), "n1");
}

TEST(KeeperChoice, OfEqualNodesTheOneThatKeepsTheDataIsTaken) {
  Images data(4);
  data.KeepData(3, "s3:b/x").KeepData(2, "s3:b/y").Submit(Tasks(1), "", 0, {"s3:b/x"});
  EXPECT_EQ(data.Start(), "n3");
}

TEST(KeeperChoice, TheNodeThatLacksTheFewestThingsIsTaken) {
  Images both(5);
  both.Keep(2).Keep(4).KeepData(4, "/a").KeepData(4, "/b").KeepData(3, "/a").KeepData(3, "/b");
  both.Submit(Tasks(1), kImage, 0, {"/a", "/b"});
  EXPECT_EQ(both.Start(), "n4");
  Images several(5);
  several.KeepData(2, "/a").KeepData(5, "/a").KeepData(5, "/b").KeepData(4, "/b");
  several.Submit(OnNodes(2), "", 0, {"/a", "/b"});
  EXPECT_EQ(several.Start(), "n2 n5");
}

TEST(KeeperChoice, AJobOfSeveralNodesGetsAllThatKeepIt) {
  Images images(5);
  images.Keep(2).Keep(5).Submit(OnNodes(3), kImage);
  EXPECT_EQ(images.Start(), "n1 n2 n5");
}

TEST(KeeperChoice, ATighterOrLighterNodeGoesBeforeTheImage) {
  Images tight(2);
  tight.snapshot.nodes[0].taken.cpus = testing::Cpus("0");
  tight.Keep(2).Submit(Tasks(1), kImage);
  EXPECT_EQ(tight.Start(), "n1");
  Images light(3);
  light.snapshot.nodes[1].weight = light.snapshot.nodes[2].weight = 1;
  light.Keep(3).Submit(OnNodes(2), kImage);
  EXPECT_EQ(light.Start(), "n1 n3");
  Images alone(2);
  alone.snapshot.nodes[1].weight = 1;
  alone.Keep(2).Submit(Tasks(1), kImage);
  EXPECT_EQ(alone.Start(), "n1");
}

TEST(KeeperChoice, TheSpanGoesBeforeTheImageAndOfEqualSwitchesTheImageDecides) {
  Images images(6);
  images.snapshot.network = MakeNetwork(6, 2);
  images.Keep(2).Keep(3).Submit(OnNodes(2), kImage);
  EXPECT_EQ(images.Start(), "n1 n2");
  images.Keep(5).Keep(6);
  EXPECT_EQ(images.Start(), "n5 n6");
}

TEST(KeeperChoice, ALaterStartIsPlannedOnTheNodesThatKeepIt) {
  Images images(4);
  for (NodeSnapshot& node : images.snapshot.nodes) {
    node.taken.cpus = testing::Cpus("0-3");
    node.holdings = {Holding{JobId(90), testing::At(4600), testing::Cpus("0-3"), Bytes(), {}}};
  }
  images.Keep(2).Keep(4).Submit(OnNodes(2), kImage, 10);
  const Plan plan = images.Make();
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, testing::At(4600));
  ASSERT_EQ(plan.reservations[0].nodes.size(), 2U);
  EXPECT_EQ(plan.reservations[0].nodes[0].node, NodeId(2));
  EXPECT_EQ(plan.reservations[0].nodes[1].node, NodeId(4));
}

RC_GTEST_PROP(KeeperChoice, JobsWithoutAnImageArePlannedAsIfNoNodeKeptAny, ()) {
  Images images(*rc::gen::inRange(1U, 7U));
  if (*rc::gen::arbitrary<bool>()) {
    images.snapshot.network =
        MakeNetwork(static_cast<std::uint32_t>(images.snapshot.nodes.size()), 2);
  }
  for (std::uint32_t jobs = *rc::gen::inRange(1U, 6U); jobs > 0; --jobs) {
    images.Submit(OnNodes(*rc::gen::inRange(1U, 4U)), "", *rc::gen::inRange(0, 3));
  }
  const Plan without = images.Make();
  for (std::uint32_t node = 1; node <= images.snapshot.nodes.size(); ++node) {
    if (*rc::gen::arbitrary<bool>()) {
      images.Keep(node);
    }
  }
  RC_ASSERT(Fingerprint().Add(images.Make()).value() == Fingerprint().Add(without).value());
}

// It starts at the same time, on as many nodes, and on no heavier ones.
RC_GTEST_PROP(KeeperChoice, KeptImagesChangeNoStartOfAJobThatWaitsAlone, ()) {
  Images images(*rc::gen::inRange(1U, 9U));
  if (*rc::gen::arbitrary<bool>()) {
    images.snapshot.network =
        MakeNetwork(static_cast<std::uint32_t>(images.snapshot.nodes.size()), 2);
  }
  for (NodeSnapshot& node : images.snapshot.nodes) {
    node.weight = *rc::gen::inRange(0U, 2U);
    if (*rc::gen::arbitrary<bool>()) {
      node.taken.cpus = testing::Cpus("0-3");
      node.holdings = {Holding{JobId(90),
                               testing::At(*rc::gen::element(2000, 3000)),
                               testing::Cpus("0-3"),
                               Bytes(),
                               {}}};
    }
  }
  images.Submit(OnNodes(*rc::gen::inRange(1U, 5U)), kImage, 10);
  const auto weights = [&](const std::vector<NodeId>& nodes) {
    std::uint32_t sum = 0;
    for (const NodeId node : nodes) {
      sum += images.snapshot.nodes[node.value() - 1].weight;
    }
    return sum;
  };
  const auto place = [&](const Plan& plan) {
    std::vector<NodeId> nodes;
    for (const PlannedStart& start : plan.starts) {
      for (const NodeAllocation& part : start.allocation.nodes) {
        nodes.push_back(part.node);
      }
    }
    Time time = images.snapshot.now;
    for (const PlannedReservation& later : plan.reservations) {
      for (const ReservedNode& reserved : later.nodes) {
        nodes.push_back(reserved.node);
      }
      time = later.start;
    }
    return std::tuple(time, nodes.size(), weights(nodes));
  };
  const auto without = place(images.Make());
  for (std::uint32_t node = 1; node <= images.snapshot.nodes.size(); ++node) {
    if (*rc::gen::arbitrary<bool>()) {
      images.Keep(node);
    }
  }
  const auto with = place(images.Make());
  RC_ASSERT(std::get<0>(with) == std::get<0>(without));
  RC_ASSERT(std::get<1>(with) == std::get<1>(without));
  RC_ASSERT(std::get<2>(with) <= std::get<2>(without));
}

TEST(KeeperChoice, ANodeIsKnownToKeepTheImageOnceAContainerOfItWasMadeThere) {
  testing::World world;
  const auto registered = [](const char* name, const char* instance) {
    Registration registration = testing::World::RegistrationOf(name, {});
    registration.features = {"containers"};
    registration.instance = instance;
    return registration;
  };
  const NodeId first = world.Take(RegisterAgent{registered("n1", "first")}).node;
  const NodeId second = world.Take(RegisterAgent{registered("n2", "first")}).node;
  const auto submit = [&](const std::string& image) {
    JobSpec spec = world.Spec(OnNodes(1));
    spec.request.exclusive = true;
    spec.container.image = image;
    const JobId job = world.Submit(spec);
    world.Schedule();
    return job;
  };
  const auto place = [&](JobId job) {
    return world.state.FindJob(job)->attempt->allocation.nodes.front().node;
  };
  const auto run = [&](JobId job) {
    RunStarted started;
    started.time = world.now;
    started.image = kDigest;
    world.Tell(place(job), job, 1, started);
    world.TellEnded(place(job), job, 2);
  };
  const JobId plain = submit("");
  ASSERT_EQ(place(plain), first);
  const JobId job = submit(kImage);
  ASSERT_EQ(place(job), second);
  run(job);
  world.TellEnded(first, plain, 1);
  EXPECT_EQ(world.state.FindNode(second)->kept,
            std::vector<std::uint64_t>{MarkOfImage(1000, kImage)});
  const JobId again = submit(kImage);
  EXPECT_EQ(place(again), second);
  world.TellEnded(second, again, 1);
  // Its directory is another one: whatever was kept there is gone.
  world.Take(LoseAgent{second});
  world.Take(RegisterAgent{registered("n2", "second")});
  EXPECT_TRUE(world.state.FindNode(second)->kept.empty());
  EXPECT_EQ(place(submit(kImage)), first);
}

TEST(KeeperChoice, ANodeIsKnownToKeepDataFromAJobsStartToTheReportThatItIsGone) {
  testing::World world;
  Registration registration = testing::World::RegistrationOf("n1", {});
  registration.features = {"staging"};
  const NodeId node = world.Take(RegisterAgent{registration}).node;
  const auto run = [&](const std::vector<std::string>& data, const DataBrought& brought) {
    JobSpec spec = world.Spec(OnNodes(1));
    spec.node_data = data;
    const JobId job = world.Submit(spec);
    world.Schedule();
    RunStarted started;
    started.time = world.now;
    started.data = brought;
    world.Tell(node, job, 1, started);
    world.TellEnded(node, job, 2);
    return world.state.FindNode(node)->kept;
  };
  const std::uint64_t x = MarkOfData(1000, "/x");
  const std::uint64_t y = MarkOfData(1000, "/y");
  EXPECT_THAT(run({"/x"}, {.made = 1}), ::testing::ElementsAre(x));
  EXPECT_THAT(run({"/x", "/y"}, {.found = 1, .made = 1}), ::testing::ElementsAre(x, y));
  EXPECT_THAT(run({"/y"}, {.found = 1, .gone = {"/x"}}), ::testing::ElementsAre(y));
}

}  // namespace
}  // namespace muster::core
