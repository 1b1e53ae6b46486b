#include "daemon/client/job_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/controller.pb.h"
#include "scheduler/model/job/array.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;

class JobListTest : public testing::ControllerTest {
 protected:
  // Elements 0 to 2.
  JobId SubmitArray() {
    SubmitJob command;
    command.token = "array";
    command.spec.name = "array";
    command.spec.user = User{1000, 1000, "someone"};
    command.spec.array = ArraySpec{{{0, 2, 1}}, 0};
    command.program.script = "#!/bin/sh\n";
    const auto [transition, status] = Take(command);
    EXPECT_TRUE(status.ok()) << status;
    return transition.job;
  }
  std::vector<ListedJobs> List(const ListJobs& asked) {
    return Seen<std::vector<ListedJobs>>(
        [&asked](const StateView& state_view) { return ListOf(state_view, WantedJobs(asked)); });
  }
  // The labels of the views in the reply's bytes.
  static std::vector<std::string> LabelsOf(const std::vector<ListedJobs>& jobs) {
    std::string bytes;
    AppendJobs(jobs, &bytes);
    wire::ListJobsReply reply;
    EXPECT_TRUE(reply.ParseFromString(bytes));
    std::vector<std::string> labels;
    for (const wire::JobView& view : reply.jobs()) {
      labels.push_back(view.label());
    }
    return labels;
  }
  static std::string Label(JobId job, const std::string& index = "") {
    return std::to_string(job.value()) + index;
  }
};

TEST_F(JobListTest, EachJobIsListedOnceInTheOrderOfIds) {
  const JobId first = Submit("a");
  const JobId array = SubmitArray();
  const JobId last = Submit("b");
  const std::vector<ListedJobs> jobs = List(ListJobs());
  EXPECT_EQ(CountOf(jobs), 5U);
  EXPECT_THAT(LabelsOf(jobs), ElementsAre(Label(first), Label(array, "_0"), Label(array, "_1"),
                                          Label(array, "_2"), Label(last)));
}

TEST_F(JobListTest, UntouchedElementsThatWaitForTheSameFoldIntoOneView) {
  SubmitArray();
  ListJobs asked;
  asked.fold = true;
  const std::vector<ListedJobs> jobs = List(asked);
  EXPECT_LT(jobs.size(), 3U);
  std::uint32_t elements = 0;
  for (const ListedJobs& each : jobs) {
    elements += ElementCount(ArraySpec{each.view.indices, 0});
  }
  EXPECT_EQ(elements, 3U);
}

TEST_F(JobListTest, AnArrayAndAnElementOfItThatAreBothNamedGiveEachOnce) {
  Submit("a");
  const JobId array = SubmitArray();
  ListJobs asked;
  asked.jobs = {JobId(array.value() + 1), array};
  EXPECT_THAT(LabelsOf(List(asked)),
              ElementsAre(Label(array, "_0"), Label(array, "_1"), Label(array, "_2")));
}

TEST_F(JobListTest, ALimitCountsViews) {
  const JobId first = Submit("a");
  const JobId array = SubmitArray();
  ListJobs asked;
  asked.limit = 2;
  EXPECT_THAT(LabelsOf(List(asked)), ElementsAre(Label(first), Label(array, "_0")));
}

TEST_F(JobListTest, ALimitCountsViewsOfJobsThatWait) {
  const JobId first = Submit("a");
  const JobId array = SubmitArray();
  ListJobs asked;
  asked.states = {"PENDING"};
  EXPECT_EQ(CountOf(List(asked)), 4U);
  asked.limit = 3;
  EXPECT_THAT(LabelsOf(List(asked)),
              ElementsAre(Label(first), Label(array, "_0"), Label(array, "_1")));
}

TEST_F(JobListTest, OnlyTheStatesAndTheUserThatWereAskedAreWanted) {
  Submit("a");
  ListJobs asked;
  asked.user = "another";
  EXPECT_TRUE(List(asked).empty());
  asked.user = "someone";
  asked.states = {"RUNNING"};
  EXPECT_TRUE(List(asked).empty());
  asked.states = {"RUNNING", "PENDING"};
  EXPECT_EQ(CountOf(List(asked)), 1U);
}

TEST_F(JobListTest, AJobIsShownAsTheListShowsIt) {
  const JobId job = Submit("a", "mine");
  const JobView view = Seen<JobView>([job](const StateView& state_view) {
    return ViewIn(state_view, *state_view.state().FindJob(job));
  });
  EXPECT_EQ(view.name, "mine");
  EXPECT_EQ(view.state, "PENDING");
}

}  // namespace
}  // namespace muster::daemon
