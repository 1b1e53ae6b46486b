#include "daemon/client/outside/cluster_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "daemon/access/call.h"
#include "daemon/client/outside/metric_page.h"
#include "daemon/client/outside/metrics_handler.h"
#include "daemon/client/outside/token_handler.h"

namespace muster::daemon {
namespace {

MeteredJobs Jobs(const std::string& user, const std::string& account, JobState state,
                 std::uint32_t count, std::uint64_t cpus = 0) {
  JobSpec spec;
  spec.user.name = user;
  spec.account = account;
  MeteredJobs row;
  row.spec = std::make_shared<const JobSpec>(spec);
  row.state = state;
  row.partition = "batch";
  row.submitted = Time(std::chrono::seconds(100));
  row.count = count;
  row.cpus = cpus;
  row.nodes = cpus > 0 ? 1 : 0;
  return row;
}

class ClusterMetricsTest : public ::testing::Test {
 protected:
  const wire::MetricFamily& Family(const std::string& name) {
    if (reply_.families().empty()) {
      reply_ = MetricsOf(cluster_, meters_, calls_, "here", "1.2");
    }
    for (const wire::MetricFamily& family : reply_.families()) {
      if (family.name() == name) {
        return family;
      }
    }
    ADD_FAILURE() << "no family " << name;
    return wire::MetricFamily::default_instance();
  }
  double Value(const std::string& name, const std::vector<std::string>& labels = {}) {
    for (const wire::MetricSample& sample : Family(name).samples()) {
      if (std::vector<std::string>(sample.labels().begin(), sample.labels().end()) == labels) {
        return sample.value();
      }
    }
    ADD_FAILURE() << "no such sample of " << name;
    return -1;
  }

  // One behind the other, with room for elements of each.
  void Add(MeteredJobs row) { cluster_.jobs.emplace(JobId(next_ += 10), std::move(row)); }
  void Add(MeteredNode row) { cluster_.nodes.emplace(NodeId(++next_), std::move(row)); }

  std::uint32_t next_ = 0;
  MeteredCluster cluster_{Time(std::chrono::seconds(160)), 3, Version(), {}, {}, {}};
  Meters meters_;
  std::map<std::string, Timings> calls_;
  wire::ReadMetricsReply reply_;
};

TEST_F(ClusterMetricsTest, JobsAreAddedUpUnderOurNamesAndSlurms) {
  Add(Jobs("ada", "math", JobState::kPending, 5));
  Add(Jobs("ada", "math", JobState::kRunning, 1, 4));
  Add(Jobs("bob", "math", JobState::kRunning, 1, 8));
  MeteredJobs held = Jobs("bob", "bio", JobState::kPending, 2);
  held.held = true;
  held.submitted = Time();
  Add(held);
  EXPECT_EQ(Value("muster_jobs", {"PENDING", "batch", "math"}), 5);
  EXPECT_EQ(Value("muster_jobs", {"RUNNING", "batch", "math"}), 2);
  EXPECT_EQ(Value("muster_jobs", {"HELD", "batch", "bio"}), 2);
  EXPECT_EQ(Value("muster_jobs_cpus", {"batch", "math"}), 12);
  EXPECT_EQ(Value("muster_queue_oldest_seconds"), 60) << "a held job does not wait for us";
  EXPECT_EQ(Value("slurm_jobs"), 9);
  EXPECT_EQ(Value("slurm_jobs_pending"), 7);
  EXPECT_EQ(Value("slurm_jobs_hold"), 2);
  EXPECT_EQ(Value("slurm_user_jobs_running", {"bob"}), 1);
  EXPECT_EQ(Value("slurm_account_jobs", {"math"}), 7);
  EXPECT_EQ(Value("slurm_partition_jobs_cpus_alloc", {"batch"}), 12);
}

TEST_F(ClusterMetricsTest, NodesAreCountedByStateAndGpusByModel) {
  Machine machine;
  machine.memory = kGibibyte;
  machine.cores.push_back(Core{0, CpuSet::Of({0, 1}), 0, kNowhere, kNowhere});
  machine.gpus.resize(2);
  machine.gpus[0].model = machine.gpus[1].model = "H200";
  const auto shared = std::make_shared<const Machine>(machine);
  Add({shared, true, false, "good", 1, kGibibyte, {kWholeGpu, GpuShare(250)}});
  Add({shared, true, true, "slow: memory", 0, Bytes(), {}});
  Add({shared, false, false, "", 0, Bytes(), {}});
  EXPECT_EQ(Value("muster_nodes", {"MIXED", "no"}), 1);
  EXPECT_EQ(Value("muster_nodes", {"IDLE", "yes"}), 1);
  EXPECT_EQ(Value("muster_nodes", {"ALLOCATED", "no"}), 0);
  EXPECT_EQ(Value("muster_nodes_health", {"slow"}), 1);
  EXPECT_EQ(Value("muster_cpus"), 6);
  EXPECT_EQ(Value("muster_cpus_taken"), 1);
  EXPECT_EQ(Value("muster_gpus", {"H200"}), 6);
  EXPECT_EQ(Value("muster_gpus_taken", {"H200"}), 1.25);
  EXPECT_EQ(Value("slurm_nodes_mixed"), 1);
  EXPECT_EQ(Value("slurm_nodes_drain"), 1);
  EXPECT_EQ(Value("slurm_nodes_down"), 1);
}

TEST_F(ClusterMetricsTest, WhatNodesTellOfTheirGpusIsThereByNodeAndWhatTheyDoNotTellIsNot) {
  Machine machine;
  machine.gpus.resize(2);
  machine.gpus[0].memory = machine.gpus[1].memory = Bytes(1000);
  const auto shared = std::make_shared<const Machine>(machine);
  Add({shared, true, false, "", 0, Bytes(), {}, false, "n1"});
  Add({shared, true, false, "", 0, Bytes(), {}, false, "n2"});
  Add({std::make_shared<const Machine>(), true, false, "", 0, Bytes(), {}, false, "n3"});
  GpuSums& told = cluster_.gpus[cluster_.nodes.begin()->first];
  told.busy_percent = 150;
  told.memory_used = 1200;
  told.power_mw = 305'500;
  told.energy_mj = 7'250;
  told.corrected_ecc = 17;
  told.uncorrected_ecc = 0;
  told.xids = 2;
  told.hottest = 63;
  cluster_.gpus[NodeId(99)].xids = 7;  // it is gone
  EXPECT_EQ(Value("muster_gpu_memory_bytes", {"n1"}), 2000);
  EXPECT_EQ(Value("muster_gpu_memory_bytes", {"n2"}), 2000);
  EXPECT_EQ(Family("muster_gpu_memory_bytes").samples_size(), 2) << "n3 has no GPUs";
  EXPECT_EQ(Value("muster_gpus_busy", {"n1"}), 1.5);
  EXPECT_EQ(Value("muster_gpu_memory_used_bytes", {"n1"}), 1200);
  EXPECT_EQ(Value("muster_gpu_power_watts", {"n1"}), 305.5);
  EXPECT_EQ(Value("muster_gpu_temperature_celsius", {"n1"}), 63);
  EXPECT_EQ(Value("muster_gpu_node_energy_joules", {"n1"}), 7.25);
  EXPECT_EQ(Value("muster_gpu_ecc_corrected_errors", {"n1"}), 17);
  EXPECT_EQ(Value("muster_gpu_ecc_uncorrected_errors", {"n1"}), 0);
  EXPECT_EQ(Value("muster_gpu_xid_errors", {"n1"}), 2);
  EXPECT_EQ(Family("muster_gpu_xid_errors").samples_size(), 1) << "n2 told nothing";
  EXPECT_EQ(Family("muster_gpu_power_watts").kind(), wire::METRIC_KIND_GAUGE);
  EXPECT_EQ(Family("muster_gpu_xid_errors").kind(), wire::METRIC_KIND_COUNTER);
}

TEST_F(ClusterMetricsTest, OfMoreNodesThanSamplesTheOthersAreAddedUpAndTheirHottestIsTold) {
  Machine machine;
  machine.gpus.resize(1);
  const auto shared = std::make_shared<const Machine>(machine);
  const auto nodes = static_cast<int>(kSeriesMax) + 500;
  for (int i = 0; i < nodes; ++i) {
    Add({shared, true, false, "", 0, Bytes(), {}, false, absl::StrCat("n", i)});
    GpuSums& told = cluster_.gpus[cluster_.nodes.rbegin()->first];
    told.power_mw = 1000;
    told.hottest = i;
  }
  double watts = 0;
  for (const wire::MetricSample& sample : Family("muster_gpu_power_watts").samples()) {
    watts += sample.value();
  }
  EXPECT_EQ(watts, nodes);
  EXPECT_EQ(Family("muster_gpu_power_watts").samples_size(), static_cast<int>(kSeriesMax));
  EXPECT_EQ(Value("muster_gpu_temperature_celsius", {"other"}),
            nodes - static_cast<int>(kSeriesMax));
}

TEST_F(ClusterMetricsTest, CyclesAndJobsSoFarAreThereByTheNamesThatSlurmHasForSdiags) {
  Add(Jobs("ada", "math", JobState::kPending, 5));
  meters_.cycle.Observe(std::chrono::milliseconds(2));
  meters_.cycle.Observe(std::chrono::milliseconds(4));
  meters_.submitted = 9;
  meters_.ended[static_cast<std::size_t>(JobState::kFailed)] = 3;
  EXPECT_EQ(Value("slurm_schedule_cycle_cnt"), 2);
  EXPECT_DOUBLE_EQ(Value("slurm_schedule_cycle_last"), 4000);
  EXPECT_DOUBLE_EQ(Value("slurm_schedule_cycle_tot"), 6000);
  EXPECT_DOUBLE_EQ(Value("slurm_sched_mean_cycle"), 3000);
  EXPECT_EQ(Value("slurm_schedule_queue_len"), 5);
  EXPECT_EQ(Value("slurm_sdiag_jobs_submitted"), 9);
  EXPECT_EQ(Value("slurm_sdiag_jobs_failed"), 3);
  EXPECT_EQ(Value("slurm_sdiag_jobs_completed"), 0);
}

TEST_F(ClusterMetricsTest, PromisedStartsAreThereAsKeptAndMissed) {
  meters_.promises_kept = 5;
  meters_.promises_missed = 2;
  EXPECT_EQ(Value("muster_start_promises", {"true"}), 5);
  EXPECT_EQ(Value("muster_start_promises", {"false"}), 2);
}

TEST_F(ClusterMetricsTest, HoweverManyAccountsThereAreTheSamplesAreBoundedAndTheSumIsRight) {
  for (std::uint32_t i = 0; i < 3 * kSeriesMax; ++i) {
    Add(Jobs(absl::StrCat("u", i), absl::StrCat("a", i), JobState::kPending, 1 + i % 3));
  }
  double sum = 0;
  for (const wire::MetricSample& sample : Family("muster_jobs").samples()) {
    sum += sample.value();
  }
  EXPECT_EQ(sum, 6 * kSeriesMax);
  for (const wire::MetricFamily& family : reply_.families()) {
    EXPECT_LE(static_cast<std::size_t>(family.samples_size()), kSeriesMax) << family.name();
  }
  EXPECT_GT(Value("muster_jobs", {"other", "other", "other"}), 0);
}

TEST_F(ClusterMetricsTest, NamesAreLegalAndEachIsThereOnce) {
  calls_.try_emplace("Submit", kWorkBounds).first->second.Observe(std::chrono::milliseconds(3));
  EXPECT_EQ(Family("muster_call_seconds").samples(0).labels(0), "Submit");
  EXPECT_EQ(Family("muster_call_seconds").samples(0).counts_size(),
            static_cast<int>(kWorkBounds.size()) + 1);
  std::set<std::string> names;
  for (const wire::MetricFamily& family : reply_.families()) {
    EXPECT_TRUE(names.insert(family.name()).second) << family.name();
    EXPECT_EQ(family.name().find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos);
    EXPECT_FALSE(family.help().empty());
    for (const wire::MetricSample& sample : family.samples()) {
      EXPECT_EQ(sample.labels_size(), family.label_names_size()) << family.name();
    }
  }
}

}  // namespace
}  // namespace muster::daemon
