#include "cli/controller/query/job_choice.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView Job() {
  JobView job;
  job.id = JobId(7);
  job.array_job_id = job.id;
  job.user = "ada";
  job.uid = 1001;
  job.account = "physics";
  job.partition = "debug,long";
  job.qos = "normal";
  job.name = "train";
  job.state = "RUNNING";
  job.nodes = {"n1", "n2"};
  job.licenses = "ansys:2,matlab:1";
  return job;
}

TEST(JobChoice, AnEmptyOneChoosesAll) {
  EXPECT_TRUE(Chooses({}, Job()));
  EXPECT_TRUE(Chooses({}, JobView()));
}

TEST(JobChoice, AUserIsChosenByNameOrNumber) {
  JobChoice choice;
  for (const auto& [user, chosen] :
       {std::pair{"ada", true}, std::pair{"1001", true}, std::pair{"bob", false}}) {
    choice.users = {user};
    EXPECT_EQ(Chooses(choice, Job()), chosen) << user;
  }
}

TEST(JobChoice, OneOfSeveralIsEnoughAndEveryListMustHaveOne) {
  JobChoice choice;
  choice.partitions = {"long"};
  choice.nodes = {"n9", "n2"};
  choice.licenses = {"matlab"};
  choice.states = {"PENDING", "RUNNING"};
  EXPECT_TRUE(Chooses(choice, Job()));
  choice.licenses = {"matlab:1"};
  EXPECT_FALSE(Chooses(choice, Job()));
  choice.licenses.clear();
  choice.names = {"other"};
  EXPECT_FALSE(Chooses(choice, Job()));
}

TEST(JobChoice, AJobIsChosenByItsNumber) {
  JobChoice choice;
  choice.jobs = {JobSelector{JobId(7), {}}};
  EXPECT_TRUE(Chooses(choice, Job()));
  choice.jobs = {JobSelector{JobId(8), {}}};
  EXPECT_FALSE(Chooses(choice, Job()));
}

}  // namespace
}  // namespace muster::cli
