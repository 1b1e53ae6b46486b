#include "daemon/client/job_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
  // `count` jobs of that name, their ids in a row; the first of them.
  JobId SubmitHeld(std::uint32_t count, const std::string& name) {
    JobId first;
    for (std::uint32_t i = 0; i < count; ++i) {
      SubmitJob command;
      command.token = name + std::to_string(i);
      command.spec.name = name;
      command.spec.user = User{1000, 1000, "someone"};
      command.spec.held = true;
      command.program.script = "#!/bin/sh\n";
      const auto [transition, status] = Take(command);
      EXPECT_TRUE(status.ok()) << status;
      first = i == 0 ? transition.job : first;
    }
    return first;
  }
  static ListJobs Folded(std::uint32_t limit = 0) {
    ListJobs asked;
    asked.fold = true;
    asked.fold_jobs = true;
    asked.limit = limit;
    return asked;
  }
  // For how many jobs each view stands, as the bytes of the reply say.
  static std::vector<std::uint32_t> CountsOf(const std::vector<ListedJobs>& jobs) {
    std::string bytes;
    AppendJobs(jobs, &bytes);
    wire::ListJobsReply reply;
    EXPECT_TRUE(reply.ParseFromString(bytes));
    std::vector<std::uint32_t> counts;
    for (const wire::JobView& view : reply.jobs()) {
      counts.push_back(std::max(1U, view.alike()));
    }
    return counts;
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

TEST_F(JobListTest, ManySingleJobsThatWaitAlikeFoldIntoOneViewWhereThatIsAsked) {
  const JobId first = SubmitHeld(20, "a");
  EXPECT_THAT(CountsOf(List(Folded())), ElementsAre(20U));
  EXPECT_THAT(LabelsOf(List(Folded())), ElementsAre(Label(first)));
  ListJobs each;
  EXPECT_EQ(CountsOf(List(each)).size(), 20U);
  each.fold = true;
  EXPECT_EQ(CountsOf(List(each)).size(), 20U) << "elements of arrays alone";
  ListJobs named = Folded();
  named.jobs = {first, JobId(first.value() + 1)};
  EXPECT_EQ(CountsOf(List(named)).size(), 2U);
}

TEST_F(JobListTest, AFewSingleJobsThatWaitAlikeHaveAViewEach) {
  SubmitHeld(15, "a");
  EXPECT_EQ(CountsOf(List(Folded())), std::vector<std::uint32_t>(15, 1));
}

TEST_F(JobListTest, AJobThatDiffersOrIsMissingEndsTheRunOfJobsThatWaitAlike) {
  const JobId first = SubmitHeld(16, "a");
  SubmitHeld(1, "other");
  const JobId second = SubmitHeld(17, "b");
  CancelJob cancel;
  cancel.job = JobId(second.value() + 16);
  cancel.by = User{1000, 1000, "someone"};
  ASSERT_TRUE(Take(cancel).second.ok());
  SubmitHeld(16, "c");
  EXPECT_THAT(CountsOf(List(Folded())), ElementsAre(16U, 1U, 16U, 16U));
  EXPECT_EQ(LabelsOf(List(Folded())).front(), Label(first));
}

TEST_F(JobListTest, ALimitCountsJobsThatWaitAlikeAsTheLinesThatTheyHave) {
  SubmitHeld(20, "many");
  SubmitHeld(5, "few");
  EXPECT_THAT(CountsOf(List(Folded(1))), ElementsAre(20U));
  EXPECT_THAT(CountsOf(List(Folded(4))), ElementsAre(20U, 1U, 1U, 1U));
  ListJobs waiting = Folded(2);
  waiting.states = {"PENDING"};
  EXPECT_THAT(CountsOf(List(waiting)), ElementsAre(20U, 1U));
}

TEST_F(JobListTest, EachJobThatWaitsForThoseBeforeItIsInOneView) {
  for (int i = 0; i < 40; ++i) {
    Submit("token" + std::to_string(i));
  }
  std::uint32_t jobs = 0;
  for (const std::uint32_t count : CountsOf(List(Folded()))) {
    jobs += count;
  }
  EXPECT_EQ(jobs, 40U);
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

TEST_F(JobListTest, PiecesHaveEachJobOnceInTheOrderOfIds) {
  Submit("a");
  SubmitArray();
  Submit("b");
  for (const bool waiting : {false, true}) {
    ListJobs asked;
    asked.states = waiting ? std::vector<std::string>{"PENDING"} : std::vector<std::string>();
    const std::vector<std::string> all = LabelsOf(List(asked));
    ASSERT_EQ(all.size(), 5U);
    for (asked.limit = 1; asked.limit < 6; ++asked.limit) {
      std::vector<std::string> pieces;
      for (asked.after = JobId(); pieces.size() < all.size();) {
        const std::vector<std::string> labels = LabelsOf(List(asked));
        ASSERT_FALSE(labels.empty());
        ASSERT_LE(labels.size(), asked.limit);
        pieces.insert(pieces.end(), labels.begin(), labels.end());
        asked.after = JobId(asked.after.value() + labels.size());  // their ids are in a row from 1
      }
      EXPECT_EQ(pieces, all);
      EXPECT_TRUE(LabelsOf(List(asked)).empty());
    }
    asked.after = JobId(~JobId::rep{0});
    EXPECT_TRUE(LabelsOf(List(asked)).empty());
  }
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
