#include "agent/node/gpu_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Bytes kMuch{std::uint64_t{12} << 30U};

class ListingMeter final : public topology::GpuMeter {
 public:
  std::vector<topology::GpuReading> Read() override { return {}; }
  std::vector<topology::GpuProcess> Processes() override { return processes; }
  std::vector<topology::GpuProcess> processes;
};

class GpuUsersTest : public ::testing::Test {
 protected:
  GpuUsersTest() {
    machine_.gpus.resize(2);
    machine_.gpus[0].uuid = "GPU-a";
    machine_.gpus[1].uuid = "GPU-b";
    Make(1, 0, "init");
  }
  // A process in /proc.
  void Make(int pid, int parent, const std::string& program, const std::string& group = "/") {
    const std::string directory = absl::StrCat(proc_ / "", pid);
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/comm") << program << "\n";
    std::ofstream(directory + "/cgroup") << "0::" << group << "\n";
    std::ofstream stat(directory + "/stat");
    stat << pid << " (" << program << ") S " << parent;
    for (int i = 0; i < 48; ++i) {
      stat << " 0";
    }
  }
  void Use(std::uint32_t pid, bool draws = false, Bytes memory = kMuch) {
    meter_.processes.push_back({"GPU-b", pid, memory, draws});
  }
  // Looks for as long as it takes until something is said.
  GpuOccupants Look() {
    for (int i = 0; i < 3; ++i) {
      users_.Look(running_, now_);
      now_ += seconds(10);
    }
    return users_.occupants().value();
  }

  TempDirectory proc_;
  Machine machine_;
  ListingMeter meter_;
  std::map<AttemptKey, RunningAttempt> running_;
  SteadyTime now_ = SteadyTime(std::chrono::hours(1));
  GpuUsers users_{machine_, &meter_, proc_ / ""};
};

TEST_F(GpuUsersTest, WhoUsesAGpuOutsideOfJobsIsNamed) {
  Make(4711, 1, "python");
  Use(4711);
  const GpuOccupants occupants = Look();
  ASSERT_THAT(occupants, SizeIs(1));
  EXPECT_EQ(occupants[0].gpu, 1U);
  EXPECT_EQ(occupants[0].pid, 4711U);
  EXPECT_EQ(occupants[0].program, "python");
  EXPECT_EQ(occupants[0].memory, kMuch);
  EXPECT_FALSE(occupants[0].user.empty());
}

TEST_F(GpuUsersTest, WhoIsSeenForAMomentUsesNothing) {
  Make(4711, 1, "nvidia-smi");
  EXPECT_THAT(Look(), IsEmpty());
  Use(4711);
  users_.Look(running_, now_);
  EXPECT_THAT(users_.occupants().value(), IsEmpty());
  users_.Look(running_, now_ + seconds(1));
  EXPECT_THAT(users_.occupants().value(), IsEmpty()) << "seen twice, but not for long";
  users_.Look(running_, now_ + GpuUsers::kLeast);
  EXPECT_THAT(users_.occupants().value(), SizeIs(1));
  meter_.processes.clear();
  users_.Look(running_, now_ + GpuUsers::kLeast + seconds(1));
  EXPECT_THAT(users_.occupants().value(), IsEmpty()) << "it is gone at once";
}

TEST_F(GpuUsersTest, NothingIsSaidBeforeItIsKnown) {
  users_.Look(running_, now_);
  EXPECT_FALSE(users_.occupants().has_value());
  users_.Look(running_, now_ + seconds(1));
  EXPECT_FALSE(users_.occupants().has_value());
  users_.Look(running_, now_ + seconds(6));
  EXPECT_TRUE(users_.occupants().has_value());
  GpuUsers blind(machine_, nullptr, "/proc");
  blind.Look(running_, now_);
  EXPECT_FALSE(blind.occupants().has_value());
}

TEST_F(GpuUsersTest, WhatDescendsFromASupervisorOrFromUsIsNoOccupant) {
  Make(100, 1, "supervisor");
  Make(101, 100, "bash");
  Make(102, 101, "python");
  Make(getpid(), 1, "agent");
  Make(103, getpid(), "health");
  running_[{JobId(1), AttemptNumber(1)}].supervisor = 100;
  Use(102);
  Use(103);
  EXPECT_THAT(Look(), IsEmpty());
  running_.clear();
  EXPECT_THAT(Look(), SizeIs(1)) << "what has outlived its job is one";
}

TEST_F(GpuUsersTest, WhatIsInTheGroupOfAnAttemptIsNoOccupant) {
  const absl::StatusOr<std::string> mount = MountedCgroups();
  if (!mount.ok()) {
    GTEST_SKIP() << "no control groups here";
  }
  Make(200, 1, "python", "/muster/1.1/session");
  Make(201, 1, "python", "/muster/1.10");
  running_[{JobId(1), AttemptNumber(1)}].cgroup = *mount + "/muster/1.1";
  Use(200);
  EXPECT_THAT(Look(), IsEmpty());
  Use(201);
  EXPECT_THAT(Look(), SizeIs(1));
}

TEST_F(GpuUsersTest, MpsServersAndDesktopsLeaveTheGpuToJobs) {
  Make(300, 1, "nvidia-cuda-mps");
  Make(301, 1, "Xorg");
  Make(302, 1, "blender");
  Use(300);
  Use(301, true, Bytes(std::uint64_t{90} << 20U));
  EXPECT_THAT(Look(), IsEmpty());
  Use(302, true);
  EXPECT_THAT(Look(), SizeIs(1)) << "much memory is no desktop's";
}

TEST_F(GpuUsersTest, AProcessThatProcDoesNotShowAndAnotherMachinesGpuAreLeftOut) {
  Use(999);
  Make(400, 1, "python");
  meter_.processes.push_back({"GPU-of-another-slice", 400, kMuch, false});
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(GpuUsersTest, AProgramMayCallItselfAnything) {
  Make(500, 1, "a\x1b[31mb\xff");
  Use(500);
  EXPECT_EQ(Look().at(0).program, "a?[31mb?");
}

TEST_F(GpuUsersTest, ItsMemoryIsThatOfTheBeginningSoThatGrowthIsNoNews) {
  Make(600, 1, "python");
  Use(600);
  const GpuOccupants before = Look();
  meter_.processes[0].memory = kMuch + kMuch;
  EXPECT_EQ(Look(), before);
}

}  // namespace
}  // namespace muster::agent
