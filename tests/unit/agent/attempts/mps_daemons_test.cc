// A daemon for each user's shared GPUs. The control program is a fake that does what NVIDIA's
// manual says of its socket and of "quit"; the real one runs in tests on a machine with GPUs.
#include "agent/attempts/mps_daemons.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/mps_control.h"
#include "scheduler/runtime/clock.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"
#include "topology/gpu/cuda_mps.h"

namespace muster::agent {
namespace {

constexpr const char* kFake = R"(#!/usr/bin/env python3
import os, signal, socket, sys
pipes = os.environ["CUDA_MPS_PIPE_DIRECTORY"]
where = os.path.join(pipes, "control")
if sys.argv[1:] == ["-f"]:
    with open(os.path.join(pipes, "said"), "w") as said:
        said.write(os.environ["CUDA_VISIBLE_DEVICES"] + " for %d:%d" % (os.getuid(), os.getgid()))
    with open(os.path.join(pipes, "nvidia-cuda-mps-control.pid"), "w") as pid:
        pid.write(str(os.getpid()))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(where)
    listener.listen()
    signal.pause()
elif sys.stdin.readline().startswith("quit"):
    os.kill(int(open(os.path.join(pipes, "nvidia-cuda-mps-control.pid")).read()), signal.SIGTERM)
)";

class MpsDaemonsTest : public ::testing::Test {
 protected:
  MpsDaemonsTest() {
    const std::filesystem::path program = directory_ / kMpsProgram;
    std::ofstream(program) << kFake;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    machine_.gpus.resize(3);
    machine_.gpus[1].uuid = "GPU-b";
    machine_.gpus[2].uuid = "GPU-c";
    part_.gpus = {GpuGrant{1, GpuShare(500)}};
    daemons_.emplace(log_, children_, ConfigOf());
  }
  ~MpsDaemonsTest() override {
    Await([this] {
      daemons_->Keep({});
      children_.Reap();
      return !std::filesystem::exists(Pipes());
    });
  }
  MpsDaemons::Config ConfigOf() {
    return {.supervisor = MUSTER_SUPERVISOR,
            .environment = {absl::StrCat("PATH=", directory_.path(), ":", getenv("PATH"))},
            .base = directory_ / "mps/n1"};
  }
  std::string Serve() { return daemons_->Serve(geteuid(), getegid(), machine_, part_); }
  std::string Pipes() { return absl::StrCat(ConfigOf().base, "/", geteuid(), "-1"); }
  static bool Await(const std::function<bool()>& there) {
    for (int i = 0; i < 100; ++i) {
      if (there()) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    return false;
  }
  static std::string SaidOf(const std::string& gpus, uid_t uid, gid_t gid) {
    return absl::StrCat(gpus, " for ", uid, ":", gid);
  }
  static std::string Read(const std::string& file) {
    std::string text;
    std::getline(std::ifstream(file), text);
    return text;
  }

  TempDirectory directory_;
  SystemClock clock_;
  Logger log_ = Logger::ToStandardError(clock_);
  Children children_;
  Machine machine_;
  NodeAllocation part_;
  std::optional<MpsDaemons> daemons_;
};

TEST_F(MpsDaemonsTest, TheFirstJobThatSharesStartsOneAndTheLastEndsIt) {
  ASSERT_EQ(Serve(), Pipes());
  ASSERT_TRUE(AwaitMps(nullptr, Pipes(), std::chrono::seconds(20)).ok());
  EXPECT_EQ(Read(Pipes() + "/said"), SaidOf("GPU-b", geteuid(), getegid()));
  const std::string first = Read(Pipes() + "/nvidia-cuda-mps-control.pid");
  EXPECT_EQ(Serve(), Pipes()) << "the second job has the same";
  daemons_->Keep({Pipes()});
  EXPECT_EQ(Read(Pipes() + "/nvidia-cuda-mps-control.pid"), first);
  EXPECT_TRUE(topology::MpsRunsIn(Pipes()));
  EXPECT_TRUE(Await([this] {
    daemons_->Keep({});
    children_.Reap();
    return !std::filesystem::exists(Pipes());
  }));
  EXPECT_FALSE(topology::MpsRunsIn(Pipes()));
}

TEST_F(MpsDaemonsTest, AJobThatComesWhileOneIsToldToEndHasOneOfItsOwn) {
  ASSERT_EQ(Serve(), Pipes());
  ASSERT_TRUE(AwaitMps(nullptr, Pipes(), std::chrono::seconds(20)).ok());
  daemons_->Keep({});  // the last job is over
  const std::string second = Serve();
  EXPECT_EQ(second, Pipes() + ".2");
  ASSERT_TRUE(AwaitMps(nullptr, second, std::chrono::seconds(20)).ok());
  EXPECT_TRUE(Await([&] {
    daemons_->Keep({second});
    children_.Reap();
    return !std::filesystem::exists(Pipes());
  }));
  EXPECT_TRUE(topology::MpsRunsIn(second));
  EXPECT_TRUE(Await([&] {
    daemons_->Keep({});
    children_.Reap();
    return !daemons_->any();
  }));
}

TEST_F(MpsDaemonsTest, AnAgentThatCameLaterTakesUpWhatTheOneBeforeStarted) {
  ASSERT_EQ(Serve(), Pipes());
  ASSERT_TRUE(AwaitMps(nullptr, Pipes(), std::chrono::seconds(20)).ok());
  const std::string first = Read(Pipes() + "/nvidia-cuda-mps-control.pid");
  daemons_.emplace(log_, children_, ConfigOf());
  EXPECT_TRUE(daemons_->IsOurs(Pipes()));
  ASSERT_EQ(Serve(), Pipes());
  daemons_->Keep({Pipes()});
  EXPECT_TRUE(topology::MpsRunsIn(Pipes()));
  EXPECT_EQ(Read(Pipes() + "/nvidia-cuda-mps-control.pid"), first);
}

TEST_F(MpsDaemonsTest, ItRunsAsTheUserAloneWhoseJobsNeedIt) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root becomes another user";
  }
  constexpr uid_t kUid = 54321;
  constexpr gid_t kGid = 54322;
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(directory_ / kMpsProgram, std::filesystem::perms(0755));
  const std::string pipes = daemons_->Serve(kUid, kGid, machine_, part_);
  EXPECT_EQ(pipes, absl::StrCat(ConfigOf().base, "/54321-1"));
  const JobUser user = {.uid = kUid, .gid = kGid, .groups = {kGid}, .name = "54321"};
  ASSERT_TRUE(AwaitMps(&user, pipes, std::chrono::seconds(20)).ok());
  EXPECT_FALSE(topology::MpsRunsIn(pipes)) << "root believes no daemon of a user's";
  EXPECT_EQ(Read(pipes + "/said"), SaidOf("GPU-b", kUid, kGid));
  EXPECT_EQ(Serve(), Pipes()) << "another user's jobs have another";
  EXPECT_TRUE(Await([&] {
    daemons_->Keep({});
    children_.Reap();
    return !std::filesystem::exists(pipes);
  }));
}

TEST_F(MpsDaemonsTest, EachSetOfGpusHasItsOwn) {
  part_.gpus.push_back(GpuGrant{2, GpuShare(500)});
  const std::string both = Serve();
  EXPECT_EQ(both, absl::StrCat(ConfigOf().base, "/", geteuid(), "-1+2"));
  ASSERT_TRUE(AwaitMps(nullptr, both, std::chrono::seconds(20)).ok());
  EXPECT_EQ(Read(both + "/said"), SaidOf("GPU-b,GPU-c", geteuid(), getegid()));
  EXPECT_TRUE(Await([&] {
    daemons_->Keep({});
    children_.Reap();
    return !std::filesystem::exists(both);
  }));
}

TEST_F(MpsDaemonsTest, TheSitesOwnIsLeftAloneAndAMachineThatIsPlayedHasNone) {
  machine_.mps = "/tmp/nvidia-mps";
  EXPECT_EQ(Serve(), "/tmp/nvidia-mps");
  EXPECT_FALSE(daemons_->IsOurs("/tmp/nvidia-mps"));
  machine_.mps = "";
  machine_.enforced = false;
  EXPECT_EQ(Serve(), "");
  machine_.enforced = true;
  machine_.gpus[1].vendor = GpuVendor::kAmd;
  EXPECT_EQ(Serve(), "");
}

TEST_F(MpsDaemonsTest, WhatAnotherUserPutInPlaceOfTheMachinesIsNoJobs) {
  const std::string found = directory_ / "found";
  ASSERT_TRUE(std::filesystem::create_directories(found + "/control"));
  machine_.mps = found;
  EXPECT_EQ(Serve(), found);
  std::filesystem::permissions(found, std::filesystem::perms::all);
  EXPECT_EQ(Serve(), "");
}

TEST_F(MpsDaemonsTest, ADirectoryThatAnotherUserCouldHaveMadeIsNotUsed) {
  std::filesystem::create_directories(Pipes());
  std::filesystem::permissions(Pipes(), std::filesystem::perms::all);
  EXPECT_EQ(Serve(), "");
  std::filesystem::remove(Pipes());
  std::filesystem::create_symlink("/tmp", Pipes());
  EXPECT_EQ(Serve(), "");
  std::filesystem::remove(Pipes());
}

TEST(MpsBase, IsThereOnlyWithTheControlProgram) {
  const TempDirectory directory;
  EXPECT_EQ(MpsBase("n1", directory.path(), "/run/user/7"), "");
  std::ofstream(directory / kMpsProgram) << "";
  std::filesystem::permissions(directory / kMpsProgram, std::filesystem::perms::owner_all);
  const std::string base = MpsBase("n1", "/nowhere:" + directory.path(), "/run/user/7");
  EXPECT_EQ(base, geteuid() == 0 ? "/run/muster-mps/n1" : "/run/user/7/muster-mps/n1");
}

}  // namespace
}  // namespace muster::agent
