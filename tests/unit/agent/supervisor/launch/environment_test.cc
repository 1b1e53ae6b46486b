#include "agent/supervisor/launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/rendezvous.h"
#include "agent/supervisor/launch/launch.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/value/output_pattern.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

// Two nodes of two ranks, each rank with two cores and two of four GPUs.
SupervisorOrder Order() {
  SupervisorOrder order;
  order.node_name = "node2";
  order.controller = "10.0.0.1:7000";
  for (std::uint32_t core = 0; core < 4; ++core) {
    Core made;
    made.os_index = core;
    made.cpus = CpuSet::Of({core, core + 4});
    order.machine.cores.push_back(made);
  }
  for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
    Gpu made;
    made.os_index = gpu;
    made.uuid = "GPU-" + std::string(1, static_cast<char>('a' + gpu));
    order.machine.gpus.push_back(made);
  }
  LaunchOrder& launch = order.launch;
  launch.job = JobId(12);
  launch.submission = JobId(12);
  launch.attempt = AttemptNumber(3);
  launch.started = Time(std::chrono::seconds(1000));
  launch.spec.time_limit = std::chrono::seconds(60);
  launch.spec.account = "physics";
  launch.spec.request.cpus_per_task = 4;
  launch.program.work_dir = "/work";
  for (std::uint32_t n = 0; n < 2; ++n) {
    NodeAllocation node;
    node.name = n == 0 ? "node1" : "node2";
    node.memory = Bytes(std::uint64_t{3} << 30);
    for (std::uint32_t r = 0; r < 2; ++r) {
      RankPlacement rank;
      rank.rank = n * 2 + r;
      rank.cpus = r == 0 ? CpuSet::Of({0, 1, 4, 5}) : CpuSet::Of({2, 3, 6, 7});
      rank.gpus = {3 - 2 * r, 2 - 2 * r};
      node.cpus |= rank.cpus;
      node.ranks.push_back(rank);
    }
    for (std::uint32_t gpu = 0; gpu < 4; ++gpu) {
      node.gpus.push_back({.gpu = gpu});
    }
    launch.allocation.nodes.push_back(node);
  }
  return order;
}

std::vector<std::string> RankOf(const SupervisorOrder& order, std::uint32_t local_rank) {
  StepContext step;
  step.step = StepId(1);
  step.program = &order.launch.program;
  step.placement = &order.launch.allocation;
  step.node_index = 1;
  step.master_port = 23456;
  return StepEnvironment(order, step).Of(local_rank);
}

TEST(EnvironmentTest, NumbersRanksOverNodes) {
  const std::vector<std::string> rank = RankOf(Order(), 1);
  for (const char* expected : {"RANK=3",
                               "WORLD_SIZE=4",
                               "LOCAL_RANK=1",
                               "LOCAL_WORLD_SIZE=2",
                               "NODE_RANK=1",
                               "GROUP_RANK=1",
                               "MASTER_ADDR=node1",
                               "MASTER_PORT=23456",
                               "SLURM_PROCID=3",
                               "MUSTER_PROCID=3",
                               "SLURM_NODEID=1",
                               "SLURM_GTIDS=2,3",
                               "SLURM_TASKS_PER_NODE=2(x2)",
                               "SLURM_JOB_NODELIST=node[1-2]",
                               "SLURM_JOB_NUM_NODES=2",
                               "SLURM_NTASKS=4",
                               "SLURM_JOB_CPUS_PER_NODE=8(x2)",
                               "SLURM_MEM_PER_NODE=3072",
                               "SLURM_JOB_END_TIME=1060",
                               "SLURM_RESTART_COUNT=2",
                               "SLURM_JOB_ACCOUNT=physics",
                               "SLURM_CPUS_PER_TASK=4",
                               "SLURM_CPU_BIND_LIST=0x33,0xcc"}) {
    EXPECT_THAT(rank, Contains(expected));
  }
}

TEST(EnvironmentTest, TellsEachRankItsPlaceOnTheGrid) {
  SupervisorOrder order = Order();
  order.launch.allocation.grid = {2, 2};
  EXPECT_THAT(RankOf(order, 0), IsSupersetOf({"MUSTER_GRID=2x2", "MUSTER_GRID_COORDS=1,0"}));
  EXPECT_THAT(RankOf(order, 1), Contains("MUSTER_GRID_COORDS=1,1"));
  EXPECT_THAT(RankOf(Order(), 1), Not(Contains(StartsWith("MUSTER_GRID"))));
}

TEST(EnvironmentTest, NamesOneCheckpointDirectoryForAllAttemptsAndRanks) {
  SupervisorOrder order = Order();
  order.launch.program.work_dir = "/home/ada/run";
  const std::string expected = absl::StrCat("MUSTER_CHECKPOINT_DIR=/home/ada/run/muster-",
                                            order.launch.job.value(), ".checkpoint");
  EXPECT_THAT(RankOf(order, 0), Contains(expected));
  order.launch.attempt = AttemptNumber(order.launch.attempt.value() + 1);
  // Another job's, of whose script this was submitted, does not reach it.
  order.launch.program.environment.push_back("MUSTER_CHECKPOINT_DIR=/elsewhere");
  EXPECT_THAT(RankOf(order, 1), Contains(expected));
  EXPECT_THAT(BatchEnvironment(order, 0), Contains(expected));
}

TEST(EnvironmentTest, SaysWhereTheJobsDataAreOnTheNode) {
  SupervisorOrder order = Order();
  order.launch.program.environment.push_back("MUSTER_STAGED=/another");
  EXPECT_THAT(BatchEnvironment(order, 0), Not(Contains(StartsWith("MUSTER_STAGED="))));
  order.staged = "/state/staged/1000/run/12.3.0";
  EXPECT_THAT(BatchEnvironment(order, 0), Contains("MUSTER_STAGED=/state/staged/1000/run/12.3.0"));
  EXPECT_THAT(RankOf(order, 1), Contains("MUSTER_STAGED=/state/staged/1000/run/12.3.0"));
}

TEST(EnvironmentTest, CheckpointsGoWhereTheSubmissionSaid) {
  SupervisorOrder order = Order();
  order.checkpoint_hints = "/attempt/checkpoint-hints";
  order.checkpoint_progress = "/attempt/checkpoint-progress";
  order.flush_program = "/libexec/muster-checkpoint-flush";
  for (const char* own :
       {"MUSTER_SUBMIT_CHECKPOINT_DIR=/scratch/state", "MUSTER_CHECKPOINT_LOCAL_DIR=/local",
        "MUSTER_CHECKPOINT_INTERVAL=900", "MUSTER_CHECKPOINT_HINTS=/another",
        "MUSTER_CHECKPOINT_PROGRESS=/another", "MUSTER_CHECKPOINT_FLUSH=/another"}) {
    order.launch.program.environment.push_back(own);
  }
  for (const std::vector<std::string>& variables : {RankOf(order, 0), BatchEnvironment(order, 0)}) {
    for (const char* expected :
         {"MUSTER_CHECKPOINT_DIR=/scratch/state", "MUSTER_CHECKPOINT_LOCAL_DIR=/local",
          "MUSTER_CHECKPOINT_INTERVAL=900", "MUSTER_CHECKPOINT_HINTS=/attempt/checkpoint-hints",
          "MUSTER_CHECKPOINT_PROGRESS=/attempt/checkpoint-progress",
          "MUSTER_CHECKPOINT_FLUSH=/libexec/muster-checkpoint-flush"}) {
      EXPECT_THAT(variables, Contains(expected));
    }
  }
}

TEST(EnvironmentTest, MeetsOnTheLoopbackWhenAllNodesAreHere) {
  SupervisorOrder order = Order();
  order.controller = "unix:/run/controller.sock";
  EXPECT_THAT(RankOf(order, 0), Contains("MASTER_ADDR=127.0.0.1"));
}

TEST(EnvironmentTest, TheDaemonsOfAnMpirunOnOneMachineShareNoFile) {
  SupervisorOrder order = Order();
  order.node_name = "node1";
  order.launch.spec.kind = JobKind::kBatch;
  order.hostfile = "/state/hostfile";
  order.remote_shell = "/usr/bin/muster-rsh";
  const std::string alone = "OMPI_MCA_rtc_hwloc_vmhole=none";
  EXPECT_THAT(BatchEnvironment(order, 0), Not(Contains(alone)));
  order.controller = "unix:/run/controller.sock";
  EXPECT_THAT(BatchEnvironment(order, 0), Contains(alone));
  order.launch.program.environment = {"OMPI_MCA_rtc_hwloc_vmhole=biggest"};
  EXPECT_THAT(BatchEnvironment(order, 0), Not(Contains(alone)));
}

TEST(EnvironmentTest, OrdersDevicesSoThatTheNearestOfLocalRankIIsDeviceI) {
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::vector<std::string> environment = RankOf(Order(), rank);
    EXPECT_THAT(environment, Contains("CUDA_VISIBLE_DEVICES=GPU-d,GPU-b,GPU-c,GPU-a"));
    EXPECT_THAT(environment, Contains("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  }
}

TEST(EnvironmentTest, HidesEveryGpuFromAJobWithoutAny) {
  SupervisorOrder order = Order();
  for (NodeAllocation& node : order.launch.allocation.nodes) {
    node.gpus.clear();
    node.ranks[0].gpus.clear();
    node.ranks[1].gpus.clear();
  }
  EXPECT_THAT(RankOf(order, 0), Contains("CUDA_VISIBLE_DEVICES="));
  EXPECT_THAT(BatchEnvironment(order, 1), Contains("CUDA_VISIBLE_DEVICES="));
}

TEST(EnvironmentTest, ShowsARankItsOwnGpusAloneWhereSoBound) {
  SupervisorOrder order = Order();
  for (RankPlacement& rank : order.launch.allocation.nodes[1].ranks) {
    rank.sees_own_gpus = true;
  }
  EXPECT_THAT(RankOf(order, 0), Contains("CUDA_VISIBLE_DEVICES=GPU-d,GPU-c"));
  EXPECT_THAT(RankOf(order, 1), Contains("CUDA_VISIBLE_DEVICES=GPU-b,GPU-a"));
}

TEST(EnvironmentTest, NamesAmdsGpusToTheirOwnRuntime) {
  SupervisorOrder order = Order();
  EXPECT_THAT(RankOf(order, 0), Not(Contains(StartsWith("ROCR_VISIBLE_DEVICES"))));
  order.machine.gpus[1].vendor = GpuVendor::kAmd;
  order.machine.gpus[2].vendor = GpuVendor::kAmd;
  EXPECT_THAT(RankOf(order, 0), Contains("CUDA_VISIBLE_DEVICES=GPU-d,GPU-a"));
  EXPECT_THAT(RankOf(order, 0), Contains("ROCR_VISIBLE_DEVICES=GPU-b,GPU-c"));
}

TEST(EnvironmentTest, TellsEachRankItsNicAndAllRanksOfANodeTheSameList) {
  SupervisorOrder order = Order();
  order.machine.nics = {{"mlx5_0", "", 0, true}, {"eth0", "", 0, false}, {"mlx5_1", "", 0, true}};
  std::vector<RankPlacement>& ranks = order.launch.allocation.nodes[1].ranks;
  ranks[0].nic = 1;
  ranks[1].nic = 3;
  EXPECT_THAT(RankOf(order, 0), Contains("UCX_NET_DEVICES=mlx5_0:1"));
  EXPECT_THAT(RankOf(order, 1), Contains("UCX_NET_DEVICES=mlx5_1:1"));
  EXPECT_THAT(RankOf(order, 0), Contains("NCCL_IB_HCA==mlx5_0,mlx5_1"));
  EXPECT_THAT(RankOf(order, 1), Contains("NCCL_IB_HCA==mlx5_0,mlx5_1"));
  order.launch.program.environment = {"UCX_NET_DEVICES=mlx5_7:1", "NCCL_IB_HCA=mlx5"};
  EXPECT_THAT(RankOf(order, 0), Contains("UCX_NET_DEVICES=mlx5_7:1"));
  EXPECT_THAT(RankOf(order, 0), Contains("NCCL_IB_HCA=mlx5"));
}

TEST(EnvironmentTest, NamesNoNicThatTheLibrariesDoNotKnowOrThatIsNotHere) {
  SupervisorOrder order = Order();
  order.machine.nics = {{"eth0", "", 0, false}};
  order.launch.allocation.nodes[1].ranks[0].nic = 1;
  EXPECT_THAT(RankOf(order, 0), Not(Contains(StartsWith("UCX_NET_DEVICES"))));
  EXPECT_THAT(RankOf(order, 0), Not(Contains(StartsWith("NCCL_IB_HCA"))));
  order.machine.nics[0].fabric = true;
  order.machine.enforced = false;
  EXPECT_THAT(RankOf(order, 0), Not(Contains(StartsWith("UCX_NET_DEVICES"))));
}

TEST(EnvironmentTest, HoldsTheUserOfAPartOfAGpuToIt) {
  SupervisorOrder order = Order();
  EXPECT_THAT(RankOf(order, 0), Not(Contains(StartsWith("CUDA_MPS_"))));
  order.launch.spec.request.gpu_share = GpuShare(250);
  order.machine.gpus[0].memory = kGibibyte * 40;
  order.machine.mps = "/run/mps";
  for (const std::vector<std::string>& environment :
       {RankOf(order, 0), BatchEnvironment(order, 1)}) {
    EXPECT_THAT(environment, Contains("MUSTER_GPU_SHARE=0.250"));
    EXPECT_THAT(environment, Contains("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25"));
    EXPECT_THAT(environment, Contains("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=10239M"));
    EXPECT_THAT(environment, Contains("CUDA_MPS_PIPE_DIRECTORY=/run/mps"));
  }
}

// Its ranks have these GPUs each.
void GiveGpus(const std::vector<std::uint32_t>& gpus, SupervisorOrder* order) {
  for (NodeAllocation& node : order->launch.allocation.nodes) {
    for (RankPlacement& rank : node.ranks) {
      rank.gpus = gpus;
    }
  }
}

TEST(EnvironmentTest, LeavesOpenMpToTheUserWhoSetIt) {
  SupervisorOrder order = Order();
  GiveGpus({}, &order);
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_NUM_THREADS=4"));
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_PLACES={2,6},{3,7}"));
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_PROC_BIND=close"));
  order.launch.program.environment = {"OMP_NUM_THREADS=1", "OMP_PROC_BIND=spread"};
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_PROC_BIND=spread"));
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("OMP_PLACES"))));
}

TEST(EnvironmentTest, LibrariesOfLinearAlgebraStartAsManyThreads) {
  SupervisorOrder order = Order();
  GiveGpus({}, &order);
  for (const char* name :
       {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS"}) {
    EXPECT_THAT(RankOf(order, 1), Contains(absl::StrCat(name, "=4")));
  }
  order.launch.program.environment = {"MKL_NUM_THREADS=2"};
  EXPECT_THAT(RankOf(order, 1), Contains("MKL_NUM_THREADS=2"));
  EXPECT_THAT(RankOf(order, 1), Contains("OPENBLAS_NUM_THREADS=4"));
  // What the user says of OpenMP holds for all of them.
  order.launch.program.environment = {"OMP_NUM_THREADS=1"};
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("MKL_NUM_THREADS"))));
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("OPENBLAS_NUM_THREADS"))));
}

TEST(EnvironmentTest, LeavesTheThreadsOfLaunchersUnboundSoThatTheirWorkersAre) {
  SupervisorOrder order = Order();
  GiveGpus({}, &order);
  ASSERT_THAT(RankOf(order, 1), Contains("OMP_PROC_BIND=close"));
  order.launch.spec.elastic = true;
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_NUM_THREADS=4"));
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("OMP_PLACES"))));
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("OMP_PROC_BIND"))));
  GiveGpus({0, 1}, &order);
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_NUM_THREADS=2"));
  order.launch.spec.elastic = false;
  GiveGpus({0}, &order);
  EXPECT_THAT(RankOf(order, 1), Contains("OMP_NUM_THREADS=4"));
  EXPECT_THAT(RankOf(order, 1), Not(Contains(StartsWith("OMP_PROC_BIND"))));
}

TEST(EnvironmentTest, DropsWhatOtherLaunchersLeft) {
  EXPECT_THAT(
      WithoutStaleVariables({"A=1", "SLURM_JOB_ID=1", "MUSTER_X=", "PMI_RANK=0", "PMIX_RANK=0",
                             "OMPI_COMM_WORLD_RANK=0", "RANK=0", "MASTER_PORT=1",
                             "CUDA_VISIBLE_DEVICES=0", "OMPI_MCA_btl=self", "RANKING=kept"}),
      ElementsAre("A=1", "OMPI_MCA_btl=self", "RANKING=kept"));
}

TEST(EnvironmentTest, KeepsHowCommandsKnowTheController) {
  EXPECT_THAT(
      WithoutStaleVariables({"MUSTER_KEYS=/k", "MUSTER_MUNGE_SOCKET=/m", "MUSTER_KEYS_X=1"}),
      ElementsAre("MUSTER_KEYS=/k", "MUSTER_MUNGE_SOCKET=/m"));
}

// E9
TEST(EnvironmentTest, WhatAnotherTorchrunLeftHasNoEffect) {
  SupervisorOrder order = Order();
  order.launch.program.environment = {
      "PET_NNODES=99",      "PET_RDZV_ENDPOINT=evil:1", "TORCHELASTIC_RUN_ID=old", "RANK=7",
      "WORLD_SIZE=64",      "MASTER_ADDR=evil",         "ROLE_NAME=old",           "LOCAL_RANK=3",
      "GROUP_WORLD_SIZE=9", "SCHED_ELASTIC_EPOCH=88"};
  const std::vector<std::string> environment = BatchEnvironment(order, 0);
  for (const char* name : {"PET_", "TORCHELASTIC_", "RANK=", "WORLD_SIZE=", "MASTER_", "ROLE_",
                           "LOCAL_RANK=", "GROUP_", "SCHED_ELASTIC_"}) {
    EXPECT_THAT(environment, Not(Contains(StartsWith(name)))) << name;
  }
}

TEST(EnvironmentTest, AnElasticJobKnowsItsRangeAndWhereItsNodesMeet) {
  SupervisorOrder order = Order();
  order.launch.spec.elastic = true;
  order.launch.spec.request.min_nodes = 1;
  order.launch.spec.request.max_nodes = 8;
  order.launch.program.environment = {"PET_NNODES=99", "PET_RDZV_BACKEND=static"};
  const Rendezvous rendezvous = RendezvousOf(order.launch);
  const std::string endpoint = absl::StrCat("node1:", rendezvous.port);
  for (const std::vector<std::string>& environment :
       {BatchEnvironment(order, 0), RankOf(order, 1)}) {
    for (const std::string& expected :
         {std::string("MUSTER_ELASTIC_MIN=1"), std::string("MUSTER_ELASTIC_MAX=8"),
          std::string("MUSTER_ELASTIC_EPOCH=3"), std::string("SCHED_ELASTIC_MIN=1"),
          std::string("SCHED_ELASTIC_MAX=8"), std::string("SCHED_ELASTIC_EPOCH=3"),
          std::string("PET_NNODES=2"), std::string("PET_NPROC_PER_NODE=4"),
          std::string("PET_RDZV_BACKEND=c10d"), "PET_RDZV_ID=" + rendezvous.id,
          "PET_RDZV_ENDPOINT=" + endpoint, "MUSTER_RDZV_ID=" + rendezvous.id,
          "MUSTER_RDZV_ENDPOINT=" + endpoint}) {
      EXPECT_THAT(environment, Contains(expected));
    }
  }
}

TEST(EnvironmentTest, AJobThatIsNotElasticSetsNothingForTorchrun) {
  EXPECT_THAT(RankOf(Order(), 1), Not(Contains(StartsWith("PET_"))));
  EXPECT_THAT(RankOf(Order(), 1), Contains(StartsWith("MUSTER_RDZV_ENDPOINT=node1:")));
}

// E10
TEST(RendezvousTest, TwoAttemptsNeverMeetWhateverTheyAreCalled) {
  LaunchOrder one = Order().launch;
  one.secret = "one";
  LaunchOrder other = one;
  EXPECT_EQ(RendezvousOf(one).id, RendezvousOf(other).id) << "all nodes of an attempt agree";
  EXPECT_EQ(RendezvousOf(one).port, RendezvousOf(other).port);
  other.secret = "other";
  EXPECT_NE(RendezvousOf(one).id, RendezvousOf(other).id);
  other = one;
  other.attempt = AttemptNumber(4);
  EXPECT_NE(RendezvousOf(one).id, RendezvousOf(other).id);
  EXPECT_THAT(RendezvousOf(other).id, StartsWith("12.4."));
  EXPECT_EQ(RendezvousOf(one).id.find("one"), std::string::npos) << "the secret stays one";
}

TEST(RendezvousTest, ItsPortsAreNeitherTheStepsNorTheKernels) {
  LaunchOrder launch = Order().launch;
  for (std::uint64_t job = 1; job < 5000; job += 37) {
    launch.job = JobId(job);
    EXPECT_GE(RendezvousOf(launch).port, 30000);
    EXPECT_LT(RendezvousOf(launch).port, 32768);
  }
}

TEST(EnvironmentTest, DerivesPortsInTheirRange) {
  for (std::uint64_t job = 1; job < 5000; job += 37) {
    const std::uint16_t port = DerivedPort(JobId(job), StepId(3));
    EXPECT_GE(port, 20000);
    EXPECT_LT(port, 30000);
  }
}

TEST(EnvironmentTest, SlurmsNamesTellOnlyWhatWasAskedFor) {
  SupervisorOrder order = Order();
  std::vector<std::string>& submitted = order.launch.program.environment;
  submitted = {"MUSTER_SUBMIT_SAID=time", "MUSTER_SUBMIT_DIR=/home/ada",
               "MUSTER_SUBMIT_HOST=login"};
  std::vector<std::string> script = BatchEnvironment(order, 0);
  for (const char* name : {"SLURM_NTASKS=", "SLURM_NPROCS=", "SLURM_CPUS_PER_TASK=",
                           "SLURM_OPEN_MODE=", "MUSTER_SUBMIT_SAID="}) {
    EXPECT_THAT(script, Not(Contains(StartsWith(name)))) << name;
  }
  EXPECT_THAT(script, IsSupersetOf({"MUSTER_NTASKS=4", "MUSTER_CPUS_PER_TASK=4",
                                    "SLURM_SUBMIT_DIR=/home/ada", "SLURM_SUBMIT_HOST=login",
                                    "ENVIRONMENT=BATCH", "TMPDIR=/tmp"}));
  EXPECT_THAT(RankOf(order, 0), Contains("SLURM_NTASKS=4")) << "a rank is one of so many";
  submitted[0] = "MUSTER_SUBMIT_SAID=ntasks-per-node,cpus-per-task,open-mode";
  order.launch.program.append_output = true;
  script = BatchEnvironment(order, 0);
  EXPECT_THAT(script,
              IsSupersetOf({"SLURM_NTASKS=4", "SLURM_CPUS_PER_TASK=4", "SLURM_OPEN_MODE=a"}));
}

TEST(EnvironmentTest, AStepOnOneNodeSaysItsNodesUnlessItIsOneRankWithoutMpi) {
  SupervisorOrder order = Order();
  Allocation one = order.launch.allocation;
  one.nodes.resize(1);
  const auto says = [&order, &one] {
    StepContext step;
    step.step = StepId(1);
    step.program = &order.launch.program;
    step.placement = &one;
    const std::vector<std::string> rank = StepEnvironment(order, step).Of(0);
    return std::count(rank.begin(), rank.end(), "SLURM_NODELIST=node1");
  };
  EXPECT_EQ(says(), 1);
  one.nodes[0].ranks.resize(1);
  EXPECT_EQ(says(), 0) << "Open MPI would look for a PMI";
  order.launch.program.mpi = MpiFlavour::kPmix;
  EXPECT_EQ(says(), 1);
}

TEST(OutputPathTest, ExpandsItsPatterns) {
  PatternValues values;
  values.job = JobId(42);
  values.submission = JobId(40);
  values.array_index = 2;
  values.job_name = "../evil";
  values.node = "node1";
  values.rank = 7;
  values.step = StepId(1);
  EXPECT_EQ(ExpandPattern("%j %A %a %N %t %s %%", values), "42 40 2 node1 7 1 %");
  values.array_index = 12;
  values.of_step = true;
  values.node_index = 3;
  values.user = "ada";
  EXPECT_EQ(ExpandPattern("%J %b %n %u", values), "42.1 2 3 ada");
  values.of_step = false;
  EXPECT_EQ(ExpandPattern("%J", values), "42");
  EXPECT_EQ(ExpandPattern("a\\%j\\", values), "a%j") << "a backslash turns them off";
  values.array_index = 2;
  EXPECT_EQ(ExpandPattern("%x", values), ".._evil");
  EXPECT_EQ(ExpandPattern("%6j-%3t", values), "000042-007");
  EXPECT_EQ(ExpandPattern("100%q%", values), "100%q%");
  EXPECT_EQ(DefaultOutputPattern(values), "muster-%A_%a.out");
}

TEST(LaunchTest, SearchesThePathAndReadsInterpreters) {
  EXPECT_THAT(ProgramPaths("ls", {"PATH=/a::/b"}), ElementsAre("/a/ls", "./ls", "/b/ls"));
  EXPECT_THAT(ProgramPaths("./ls", {"PATH=/a"}), ElementsAre("./ls"));
  EXPECT_EQ(InterpreterOf("#! /bin/sh -e\ntrue\n"), "/bin/sh");
  EXPECT_EQ(InterpreterOf("#!\n"), std::nullopt);
  EXPECT_EQ(InterpreterOf("true"), std::nullopt);
}

}  // namespace
}  // namespace muster::agent
