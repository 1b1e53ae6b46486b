#include "daemon/controller/views.h"

#include <gtest/gtest.h>

#include "scheduler/model/job/inner_ranks.h"

namespace muster::daemon {
namespace {

Job RunningJob() {
  Job job;
  job.id = JobId(7);
  job.submission = JobId(5);
  job.array_index = 2;
  JobSpec spec;
  spec.name = "name";
  spec.request.tasks = 2;
  spec.user.name = "someone";
  job.spec = std::make_shared<const JobSpec>(spec);
  job.state = JobState::kRunning;
  Attempt& attempt = job.attempt.emplace();
  attempt.number = AttemptNumber(1);
  NodeAllocation part;
  part.node = NodeId(1);
  part.name = "node1";
  part.cpus = CpuSet::Of({0, 1});
  part.ranks = {RankPlacement{0, CpuSet::Of({0}), NumaSet::Of({0}), {}},
                RankPlacement{1, CpuSet::Of({1}), NumaSet::Of({0}), {}}};
  attempt.allocation.nodes.push_back(part);
  attempt.runs.resize(1);
  return job;
}

RankBinding Binding(std::uint32_t rank, BindingVerdict verdict, const std::string& text) {
  RankBinding binding;
  binding.step = StepId(1);
  binding.rank = rank;
  binding.verdict = verdict;
  binding.text = text;
  return binding;
}

TEST(ViewsTest, AnElementIsCalledByItsArrayAndIndex) {
  const JobView view = ViewOf(RunningJob(), nullptr);
  EXPECT_EQ(view.label, "5_2");
  EXPECT_EQ(view.array_task_id, "2");
  EXPECT_EQ(view.cpus, 2U);
  EXPECT_EQ(view.nodes, std::vector<std::string>{"node1"});
}

TEST(ViewsTest, BindingSaysHowManyRanksWereVerified) {
  Job job = RunningJob();
  EXPECT_EQ(BindingText(*job.attempt), "");
  job.attempt->runs[0].bindings = {Binding(0, BindingVerdict::kVerified, ""),
                                   Binding(1, BindingVerdict::kVerified, "")};
  EXPECT_EQ(BindingText(*job.attempt), "verified 2/2");
  job.attempt->runs[0].ranks_left_out = 100;
  job.attempt->runs[0].verified_left_out = 99;
  EXPECT_EQ(BindingText(*job.attempt), "verified 101/102") << "those of earlier steps count";
}

TEST(ViewsTest, BindingNamesTheRankThatDiffers) {
  Job job = RunningJob();
  job.attempt->runs[0].bindings = {Binding(0, BindingVerdict::kVerified, ""),
                                   Binding(1, BindingVerdict::kDiffers, "cpus 0-1, planned 1")};
  EXPECT_EQ(BindingText(*job.attempt),
            "verified 1/2; rank 1 on node1 differs: cpus 0-1, planned 1");
}

TEST(ViewsTest, AnInnerRankIsShownWithThePlaceThatItWasGiven) {
  Job job = RunningJob();
  job.attempt->runs[0].bindings = {Binding(1, BindingVerdict::kVerified, ""),
                                   Binding(1, BindingVerdict::kVerified, "")};
  job.attempt->runs[0].bindings[0].step = kPlacedInnerStep;
  job.attempt->runs[0].bindings[1].step = kFreeInnerStep;
  const AttemptView view = ViewOf(core::ClusterState(), job, kNoTime);
  EXPECT_EQ(view.ranks.at(0).cpus, "1");
  EXPECT_EQ(view.ranks.at(1).cpus, "0-1") << "whatever its number is";
}

TEST(ViewsTest, BindingOfAPlayedMachineSaysThatItIsNotEnforced) {
  Job job = RunningJob();
  job.attempt->runs[0].bindings = {
      Binding(0, BindingVerdict::kNotEnforced, "the agent plays big.xml")};
  EXPECT_EQ(BindingText(*job.attempt), "not enforced (the agent plays big.xml)");
}

TEST(ViewsTest, AJobThatBeginsSaysWhereItsDataAreBroughtAndThenWhereTheyWereFound) {
  Job job = RunningJob();
  JobSpec spec = *job.spec;
  spec.node_data = {"/archive/x"};
  job.spec = std::make_shared<const JobSpec>(spec);
  job.state = JobState::kConfiguring;
  EXPECT_EQ(ViewOf(job, nullptr).reason.text, "its data are brought to node1");
  job.state = JobState::kRunning;
  EXPECT_EQ(ViewOf(job, nullptr).reason.text, "");
  EXPECT_EQ(ViewOf(core::ClusterState(), job, kNoTime).data, "");
  job.attempt->allocation.nodes.push_back(job.attempt->allocation.nodes[0]);
  job.attempt->allocation.nodes[1].name = "node2";
  job.attempt->runs.resize(2);
  job.attempt->runs[0].data = {.found = 1};
  job.attempt->runs[1].data = {.made = 1, .bytes = std::uint64_t{4} << 30};
  EXPECT_EQ(ViewOf(core::ClusterState(), job, kNoTime).data,
            "found on node1, copied to node2 (4 GiB)");
  job.attempt->runs[1].data.not_ahead = "no room";
  EXPECT_EQ(ViewOf(core::ClusterState(), job, kNoTime).data,
            "found on node1, copied to node2 (4 GiB); not while it waited: no room");
}

TEST(ViewsTest, ASuspensionThatLastsEndsWithTheAttempt) {
  Job job = RunningJob();
  const Time begin = Time(Duration(50));
  job.attempt->suspended_since = begin;
  job.attempt->suspensions = {{Time(Duration(10)), Time(Duration(20)), "preempted by job 8"},
                              {begin, kNoTime, "suspended by ada"}};
  EXPECT_EQ(ViewOf(core::ClusterState(), job, kNoTime).suspensions, job.attempt->suspensions);
  const AttemptView ended = ViewOf(core::ClusterState(), job, Time(Duration(99)));
  EXPECT_EQ(ended.suspensions.at(0).end, Time(Duration(20)));
  EXPECT_EQ(ended.suspensions.at(1), (Suspension{begin, Time(Duration(99)), "suspended by ada"}));
}

TEST(ViewsTest, ARankHasTheRatesOfItsGpusAndOneOfWhichNothingIsKnownHasNone) {
  Job job = RunningJob();
  NodeRun& run = job.attempt->runs.front();
  run.bindings.resize(2);
  run.bindings[0].rank = 0;
  run.bindings[1].rank = 1;
  run.bindings[0].step = run.bindings[1].step = StepId(1);
  run.gpu_work = {{StepId(1), 1, {Duration(1000), Duration(970), {}, Duration(500), {}, {}}}};
  run.gpu_errors = {"rank 1 on node1 met XID 79"};
  const AttemptView view = ViewOf(core::ClusterState(), job, kNoTime);
  EXPECT_EQ(view.ranks.at(0).gpu_work, std::nullopt);
  EXPECT_DOUBLE_EQ(view.ranks.at(1).gpu_work->sm_active, 0.97);
  EXPECT_EQ(view.ranks.at(1).gpu_work->nvlink, std::nullopt);
  EXPECT_EQ(view.gpu_errors, run.gpu_errors);
}

TEST(ViewsTest, TheLastViewOfAJobHasItsEnd) {
  JobEnded end;
  end.job = JobId(7);
  end.state = JobState::kFailed;
  end.status.code = 3;
  end.text = "why";
  end.time = Time(Duration(99));
  const JobView view = ViewOf(RunningJob(), end);
  EXPECT_EQ(view.state, "FAILED");
  EXPECT_EQ(view.exit_code, 3);
  EXPECT_EQ(view.exit_text, "why");
  EXPECT_EQ(view.end_time, Time(Duration(99)));
}

}  // namespace
}  // namespace muster::daemon
