// Ranks that launchers inside a job start: what these are told, and where an `mpirun` in a script
// of the real supervisor has its ranks.
#include "scheduler/model/job/inner_ranks.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_scan.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/mpirun/launcher_environment.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kWhere =
    "sh -c 'echo r$OMPI_COMM_WORLD_RANK $(grep -h Cpus_allowed_list /proc/self/status) "
    "places $OMP_PLACES threads $OMP_NUM_THREADS.'";

class InnerRanksTest : public AttemptFixture {
 protected:
  // A script of a job with a rank on each CPU that we have.
  void Script(const std::string& text) {
    Batch(text);
    order_.launch.allocation = Placement(static_cast<std::uint32_t>(cpus_.size()));
    order_.launch.program.environment.insert(
        order_.launch.program.environment.end(),
        {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  }
  // What was read back of ranks that we did not start.
  std::vector<RankBinding> Inner() const {
    std::vector<RankBinding> inner;
    for (const BindingRead& read : Facts<BindingRead>()) {
      for (const RankBinding& rank : read.ranks) {
        if (IsInner(rank.step)) {
          inner.push_back(rank);
        }
      }
    }
    return inner;
  }
};

TEST_F(InnerRanksTest, AnMpirunsRanksHaveThePlannedPlaces) {
  Script(std::string("mpirun.openmpi ") + kWhere);
  EXPECT_EQ(RunToEnd().status.code, 0) << Output();
  for (std::size_t rank = 0; rank < cpus_.size(); ++rank) {
    EXPECT_THAT(Output(), HasSubstr(absl::StrCat("r", rank, " Cpus_allowed_list: ", cpus_[rank],
                                                 " places {", cpus_[rank], "} threads 1.")));
  }
  const std::vector<RankBinding> inner = Inner();
  ASSERT_THAT(inner, SizeIs(cpus_.size()));
  for (const RankBinding& rank : inner) {
    EXPECT_EQ(rank.step, kPlacedInnerStep);
    EXPECT_EQ(rank.verdict, BindingVerdict::kVerified) << rank.text;
    EXPECT_EQ(rank.cpus, CpuSet::Of({cpus_[rank.rank]}));
    EXPECT_THAT(rank.text, HasSubstr(absl::StrCat("rank ", rank.rank, " of an mpirun")));
  }
}

TEST_F(InnerRanksTest, AsManyAsNobodyPlannedShareWhatTheJobHas) {
  const std::size_t size = cpus_.size() + 1;
  Script(absl::StrCat("mpirun.openmpi --oversubscribe -n ", size, " ", kWhere));
  EXPECT_EQ(RunToEnd().status.code, 0) << Output();
  const std::vector<RankBinding> inner = Inner();
  ASSERT_THAT(inner, SizeIs(size));
  for (const RankBinding& rank : inner) {
    EXPECT_EQ(rank.step, kFreeInnerStep);
    EXPECT_EQ(rank.verdict, BindingVerdict::kVerified) << rank.text;
    EXPECT_EQ(rank.cpus.Count(), cpus_.size());
  }
  EXPECT_THAT(Output(), HasSubstr("places threads 1."));
}

TEST_F(InnerRanksTest, WhatItsUserSaysOfBindingStands) {
  Script(std::string("mpirun.openmpi --bind-to none ") + kWhere);
  EXPECT_EQ(RunToEnd().status.code, 0) << Output();
  ASSERT_THAT(Inner(), SizeIs(cpus_.size()));
  EXPECT_EQ(Inner()[0].cpus.Count(), cpus_.size());
  EXPECT_THAT(Inner()[0].text, HasSubstr("was given a binding"));
}

TEST_F(InnerRanksTest, OneThatTalksNonsenseOrIsNotOfTheJobIsNotListenedTo) {
  Script("sleep 30");
  Start();
  const std::string path = RankSocket(directory_.Hostfile());
  ASSERT_TRUE(Eventually([&] { return ConnectUnix(path, SOCK_SEQPACKET).ok(); }));
  const absl::StatusOr<UniqueFd> stranger = ConnectUnix(path, SOCK_SEQPACKET);
  ASSERT_TRUE(stranger.ok());
  send(stranger->get(), "rank=0", 7, MSG_NOSIGNAL);
  char answer = 0;
  EXPECT_LE(recv(stranger->get(), &answer, 1, 0), 0) << "it was answered";
}

TEST(InnerRankWireTest, WhateverABytesAreTheyAreTakenApartSafely) {
  EXPECT_THAT(UnpackFields(""), IsEmpty());
  EXPECT_THAT(UnpackFields("no end"), ElementsAre("no end"));
  const std::vector<std::string> fields = {"rank=3", "size", "local_rank=x", "A=1"};
  EXPECT_EQ(UnpackFields(PackFields(fields)), fields);
  EXPECT_EQ(NumberOf(fields, "rank"), 3U);
  EXPECT_EQ(NumberOf(fields, "size"), 0U);
  EXPECT_EQ(NumberOf(fields, "local_rank"), 0U);
  EXPECT_EQ(ValueOf(fields, "A"), "1");
}

TEST(InnerRankScanTest, MpichsAndTorchrunsAreKnownByTheirVariables) {
  const std::string mpich = PackFields({"PMI_RANK=5", "PMI_SIZE=8", "MPI_LOCALRANKID=1",
                                        "MPI_LOCALNRANKS=4", "HYDRA_BINDING=user:0"});
  EXPECT_EQ(RankOfEnvironment(mpich).rank.rank, 5U);
  EXPECT_EQ(RankOfEnvironment(mpich).rank.local_size, 4U);
  EXPECT_EQ(RankOfEnvironment(mpich).hydra_binding, "user:0");
  const std::string worker = PackFields({"TORCHELASTIC_RUN_ID=a", "RANK=2", "LOCAL_RANK=1"});
  EXPECT_EQ(RankOfEnvironment(worker).rank.launcher, "a torchrun");
  EXPECT_EQ(RankOfEnvironment(PackFields({"RANK=2", "PMI_RANK=1"})).rank.launcher, "");
}

TEST(LauncherEnvironmentTest, HydraIsToldTheThreadsOfEachRank) {
  NodeAllocation node;
  node.ranks.resize(2);
  node.ranks[0].cpus = CpuSet::Of({0, 8});
  node.ranks[1].cpus = CpuSet::Of({1, 9});
  EXPECT_EQ(HydraBinding(node), "user:0+8,1+9");
  // With this many characters Hydra would write after what it has taken for them.
  node.ranks[1].cpus = CpuSet::Of({10, 11, 12, 13, 14, 15, 16, 100});
  EXPECT_EQ(HydraBinding(node), "user:0+8,010+11+12+13+14+15+16+100");
}

TEST(LauncherEnvironmentTest, ADaemonsRanksAreNotGivenItsOwnPlaces) {
  SupervisorOrder order;
  NodeAllocation node;
  node.ranks.resize(2);
  node.ranks[0].cpus = CpuSet::Of({2, 3});
  node.ranks[1].cpus = CpuSet::Of({4, 5});
  Variables variables({"RANK=0", "WORLD_SIZE=1"});
  SetDaemon(order, node, LauncherKind::kHydraAsPlanned, &variables);
  EXPECT_THAT(variables.List(),
              ElementsAre("BLIS_NUM_THREADS=2", "HYDRA_BINDING=user:2+3,4+5", "MKL_NUM_THREADS=2",
                          "NUMEXPR_NUM_THREADS=2", "OMP_NUM_THREADS=2", "OMP_PLACES=cores",
                          "OMP_PROC_BIND=close", "OPENBLAS_NUM_THREADS=2"));
  Variables chosen({"HYDRA_BINDING=none", "OMP_PROC_BIND=spread", "OMP_NUM_THREADS=7"});
  SetDaemon(order, node, LauncherKind::kHydraAsPlanned, &chosen);
  EXPECT_THAT(chosen.List(),
              ElementsAre("HYDRA_BINDING=none", "OMP_NUM_THREADS=7", "OMP_PROC_BIND=spread"));
  Variables other({"RANK=0"});
  SetDaemon(order, node, LauncherKind::kHydra, &other);
  EXPECT_THAT(other.List(), IsEmpty());
}

TEST(LauncherEnvironmentTest, ALauncherThatIsARankHandsNoPlacesOfItsOwnOn) {
  SupervisorOrder order;
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
    Core core;
    core.cpus = CpuSet::Of({cpu});
    order.machine.cores.push_back(core);
  }
  order.launch.allocation.nodes.resize(1);
  InnerRank rank;
  rank.local_size = 2;
  rank.cpus = CpuSet::Of({0, 1});
  rank.own = {"MUSTER_CPUS=0-1",     "OMP_NUM_THREADS=2", "OMP_PLACES={0},{1}",
              "OMP_PROC_BIND=close", "MKL_NUM_THREADS=2", "OPENBLAS_NUM_THREADS=7"};
  const std::vector<std::string> given = InnerRankEnvironment(order, 0, rank);
  EXPECT_THAT(given, Contains("OMP_PLACES"));
  EXPECT_THAT(given, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(given, Not(Contains(StartsWith("OMP_PLACES="))));
  EXPECT_THAT(given, Contains("MKL_NUM_THREADS=1"));
  EXPECT_THAT(given, Contains("OPENBLAS_NUM_THREADS=7"));  // its user's
  rank.own[2] = "OMP_PLACES={0}";                          // its user's
  EXPECT_THAT(InnerRankEnvironment(order, 0, rank), Not(Contains("OMP_PLACES")));
}

}  // namespace
}  // namespace muster::agent
