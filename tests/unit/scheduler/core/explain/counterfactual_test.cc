#include "scheduler/core/explain/counterfactual.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::At;
using testing::MakeNode;
using testing::Normal;
using testing::Tasks;

// Two nodes of four cores; the first is held until 1000 + 600 s.
Snapshot HalfBusy() {
  Snapshot snapshot;
  snapshot.now = At(1000);
  snapshot.nodes = {MakeNode(1, {}), MakeNode(2, {})};
  NodeSnapshot& node = snapshot.nodes[0];
  node.taken.cpus = testing::Cpus("0-3");
  node.taken.memory = node.machine->memory;
  node.holdings = {Holding{JobId(1), At(1600), testing::Cpus("0-3"), node.machine->memory, {}}};
  return snapshot;
}

void Add(Snapshot& snapshot, std::uint64_t id, const ResourceRequest& request, int minutes) {
  WaitingJob job;
  job.id = JobId(id);
  job.submission = job.id;
  JobSpec spec = Normal(request);
  spec.time_limit = std::chrono::minutes(minutes);
  job.spec = std::make_shared<const JobSpec>(std::move(spec));
  snapshot.waiting.push_back(std::move(job));
}

std::string Text(const Snapshot& snapshot, std::uint64_t job) {
  std::string text;
  for (const Suggestion& suggestion : SuggestChanges(snapshot, JobId(job), SchedulerConfig())) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", suggestion.change, " at ",
                    (suggestion.start - At(0)).count() / 1000);
  }
  return text;
}

ResourceRequest BothNodes() {
  ResourceRequest request = Tasks(2, 4);
  request.min_nodes = 2;
  return request;
}

TEST(Counterfactual, AShorterLimitFillsTheHoleBeforeAReservation) {
  Snapshot snapshot = HalfBusy();
  Add(snapshot, 2, BothNodes(), 60);
  Add(snapshot, 3, Tasks(1, 4), 40);
  EXPECT_EQ(ForecastOf(snapshot, JobId(2), SchedulerConfig()).start, At(1600));
  EXPECT_EQ(ForecastOf(snapshot, JobId(3), SchedulerConfig()).start, At(1600 + 3600));
  EXPECT_EQ(Text(snapshot, 3), "--time=0:10:00 at 1000");
}

TEST(Counterfactual, FewerTasksStartOnWhatIsFree) {
  Snapshot snapshot = HalfBusy();
  Add(snapshot, 2, BothNodes(), 60);
  EXPECT_EQ(Text(snapshot, 2), "--ntasks=1 at 1000");
}

TEST(Counterfactual, AnyGpuWillDoSooner) {
  Snapshot snapshot = HalfBusy();
  snapshot.nodes = {MakeNode(1, {.gpus = 1, .gpu_model = "NVIDIA H100"}),
                    MakeNode(2, {.gpus = 1, .gpu_model = "NVIDIA A100"})};
  snapshot.nodes[0].taken.gpus[0] = kWholeGpu;
  snapshot.nodes[0].holdings = {
      Holding{JobId(1), At(5000), CpuSet(), Bytes(), {GpuGrant{0, kWholeGpu}}}};
  ResourceRequest request = Tasks(1);
  request.gpus_per_task = {"h100", 1};
  Add(snapshot, 2, request, 60);
  EXPECT_EQ(ForecastOf(snapshot, JobId(2), SchedulerConfig()).start, At(5000));
  EXPECT_EQ(Text(snapshot, 2), "any GPU in place of h100 at 1000");
}

TEST(Counterfactual, NothingHelpsAJobThatStartsAtOnceOrIsHeld) {
  Snapshot snapshot = HalfBusy();
  Add(snapshot, 2, Tasks(1), 60);
  EXPECT_EQ(ForecastOf(snapshot, JobId(2), SchedulerConfig()).start, At(1000));
  EXPECT_EQ(Text(snapshot, 2), "");
  Add(snapshot, 3, BothNodes(), 60);
  snapshot.waiting.back().held = true;
  EXPECT_EQ(ForecastOf(snapshot, JobId(3), SchedulerConfig()).start, kNoTime);
  EXPECT_EQ(Text(snapshot, 3), "");
  EXPECT_EQ(Text(snapshot, 99), "");
}

// Components with ids one after the other.
void AddGroup(Snapshot& snapshot, std::uint64_t id, const std::vector<ResourceRequest>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Add(snapshot, id + i, requests[i], 60);
    WaitingJob& component = snapshot.waiting.back();
    component.submission = JobId(id);
    component.het_size = static_cast<std::uint32_t>(requests.size());
  }
}

TEST(Counterfactual, AHeterogeneousJobIsToldWhichComponentToMakeSmaller) {
  Snapshot snapshot = HalfBusy();
  AddGroup(snapshot, 2, {Tasks(1, 1), Tasks(1, 4)});
  AddGroup(snapshot, 9, {Tasks(1, 1), Tasks(1, 1)});  // behind it
  for (const std::uint64_t job : {2U, 3U}) {
    const Forecast forecast = ForecastOf(snapshot, JobId(job), SchedulerConfig());
    EXPECT_EQ(forecast.start, At(1600));
    EXPECT_EQ(forecast.nodes, (std::vector<NodeId>{NodeId(1), NodeId(2)}));
    EXPECT_EQ(Text(snapshot, job), "component 1: --cpus-per-task=2 at 1000");
  }
}

TEST(Counterfactual, AHeterogeneousJobThatFitsStartsNow) {
  Snapshot snapshot = HalfBusy();
  AddGroup(snapshot, 2, {Tasks(1, 1), Tasks(1, 3)});
  EXPECT_EQ(ForecastOf(snapshot, JobId(3), SchedulerConfig()).start, At(1000));
  EXPECT_EQ(Text(snapshot, 2), "");
}

}  // namespace
}  // namespace muster::core
