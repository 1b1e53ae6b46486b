#include "daemon/client/outside/slurm_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace muster::daemon {
namespace {

class SlurmMetricsTest : public ::testing::Test {
 protected:
  void AddJobs(const std::string& user, JobState state, std::uint32_t count, std::uint64_t cpus) {
    JobSpec spec;
    spec.user.name = user;
    spec.account = "physics";
    MeteredJobs row;
    row.spec = std::make_shared<const JobSpec>(spec);
    row.state = state;
    row.partition = "batch";
    row.count = count;
    row.cpus = cpus;
    row.nodes = cpus > 0 ? 1 : 0;
    cluster_.jobs.emplace(JobId(next_ += 10), std::move(row));
  }
  void AddNode(const std::string& name, std::uint32_t taken, bool drained = false) {
    auto machine = std::make_shared<Machine>();
    machine->memory = Bytes(1 << 20);
    machine->gpus.resize(2);
    MeteredNode row;
    row.machine = std::move(machine);
    row.connected = true;
    row.drained = drained;
    row.cpus_taken = taken;
    row.memory_taken = Bytes(taken << 10);
    row.gpus_taken = {kWholeGpu, GpuShare(kWholeGpu.value() / 4)};
    row.name = name;
    cluster_.nodes.emplace(NodeId(static_cast<std::uint32_t>(cluster_.nodes.size())), row);
  }
  double Value(const std::string& page, const std::string& name,
               const std::vector<std::string>& labels = {}) {
    const wire::ReadMetricsReply reply = SlurmPage(page, cluster_, meters_);
    for (const wire::MetricFamily& family : reply.families()) {
      for (const wire::MetricSample& sample : family.samples()) {
        if (family.name() == name &&
            std::vector<std::string>(sample.labels().begin(), sample.labels().end()) == labels) {
          return sample.value();
        }
      }
    }
    ADD_FAILURE() << "no " << name << " on " << page;
    return -1;
  }

  std::uint32_t next_ = 0;
  MeteredCluster cluster_{Time(std::chrono::seconds(160)), 3, Version(), {}, {}, {}};
  Meters meters_;
};

TEST_F(SlurmMetricsTest, JobsAreCountedByStateAndThoseThatEndedSinceTheStart) {
  AddJobs("ada", JobState::kRunning, 2, 8);
  AddJobs("bob", JobState::kPending, 5, 0);
  meters_.ended[static_cast<std::size_t>(JobState::kCompleted)] = 7;
  meters_.ended[static_cast<std::size_t>(JobState::kTimeout)] = 1;
  EXPECT_EQ(Value("jobs", "slurm_jobs"), 7);
  EXPECT_EQ(Value("jobs", "slurm_jobs_running"), 2);
  EXPECT_EQ(Value("jobs", "slurm_jobs_pending"), 5);
  EXPECT_EQ(Value("jobs", "slurm_jobs_completed"), 7);
  EXPECT_EQ(Value("jobs", "slurm_jobs_timeout"), 1);
  EXPECT_EQ(Value("jobs", "slurm_jobs_finished"), 8);
}

TEST_F(SlurmMetricsTest, UsersAndAccountsHaveAPageOfTheirOwn) {
  AddJobs("ada", JobState::kRunning, 2, 8);
  AddJobs("bob", JobState::kPending, 5, 0);
  EXPECT_EQ(Value("jobs-users-accts", "slurm_user_jobs_running", {"ada"}), 2);
  EXPECT_EQ(Value("jobs-users-accts", "slurm_user_jobs_running", {"bob"}), 0);
  EXPECT_EQ(Value("jobs-users-accts", "slurm_account_jobs", {"physics"}), 7);
}

TEST_F(SlurmMetricsTest, EachNodeIsToldByItsName) {
  AddNode("n1", 0);
  AddNode("n2", 0, true);
  EXPECT_EQ(Value("nodes", "slurm_nodes"), 2);
  EXPECT_EQ(Value("nodes", "slurm_nodes_drain"), 1);
  EXPECT_EQ(Value("nodes", "slurm_nodes_drained"), 1);
  EXPECT_EQ(Value("nodes", "slurm_node_gpus", {"n1"}), 2);
  EXPECT_EQ(Value("nodes", "slurm_node_gpus_alloc", {"n2"}), 1.25);
  EXPECT_EQ(Value("nodes", "slurm_node_memory_bytes", {"n1"}), 1 << 20);
}

TEST_F(SlurmMetricsTest, APartitionHasItsNodesAlsoWithoutJobs) {
  AddNode("n1", 0);
  AddNode("n2", 0);
  AddJobs("ada", JobState::kRunning, 1, 8);
  auto groups = std::make_shared<PolicyNodes>();
  groups->partitions["batch"].all = true;
  groups->partitions["debug"].members = {false, true};
  cluster_.groups = groups;
  EXPECT_EQ(Value("partitions", "slurm_partitions"), 2);
  EXPECT_EQ(Value("partitions", "slurm_partition_nodes", {"batch"}), 2);
  EXPECT_EQ(Value("partitions", "slurm_partition_nodes", {"debug"}), 1);
  EXPECT_EQ(Value("partitions", "slurm_partition_jobs_running", {"batch"}), 1);
  EXPECT_EQ(Value("partitions", "slurm_partition_jobs_running", {"debug"}), 0);
  EXPECT_EQ(Value("partitions", "slurm_partition_gpus", {"debug"}), 2);
}

TEST_F(SlurmMetricsTest, CyclesHaveAPageOfTheirOwn) {
  meters_.submitted = 9;
  EXPECT_EQ(Value("scheduler", "slurm_sdiag_jobs_submitted"), 9);
}

TEST_F(SlurmMetricsTest, NamesAreLegalAndEachIsOnAPageOnce) {
  AddNode("n1", 0);
  AddJobs("ada", JobState::kRunning, 1, 8);
  EXPECT_EQ(SlurmPageNames(), "jobs, jobs-users-accts, nodes, partitions, scheduler");
  for (const char* const page : {"jobs", "jobs-users-accts", "nodes", "partitions", "scheduler"}) {
    EXPECT_TRUE(HasSlurmPage(page));
    std::set<std::string> names;
    const wire::ReadMetricsReply reply = SlurmPage(page, cluster_, meters_);
    EXPECT_GT(reply.families_size(), 0) << page;
    for (const wire::MetricFamily& family : reply.families()) {
      EXPECT_TRUE(names.insert(family.name()).second) << family.name();
      EXPECT_EQ(family.name().find("slurm_"), 0U);
      EXPECT_EQ(family.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos);
      for (const wire::MetricSample& sample : family.samples()) {
        EXPECT_EQ(sample.labels_size(), family.label_names_size()) << family.name();
      }
    }
  }
  EXPECT_FALSE(HasSlurmPage("job"));
  EXPECT_FALSE(HasSlurmPage(""));
}

}  // namespace
}  // namespace muster::daemon
