#include "daemon/power/power_programs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "daemon/power/power_calls.h"
#include "daemon/power/power_switch.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/core/builders.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PowerProgramsTest : public ::testing::Test {
 protected:
  std::string Program(const std::string& body) {
    const std::string path = directory_ / "program.sh";
    std::ofstream(path, std::ios::trunc) << "#!/bin/sh\n" << body;
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    return path;
  }
  // Its content, once it is there whole.
  static std::string Await(const std::string& path, const std::string& end = "\n") {
    for (int i = 0; i < 1000; ++i) {
      const auto text = ReadFile(path);
      if (text.ok() && text->size() >= end.size() && text->ends_with(end)) {
        return *text;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }
  std::string Log() { return ReadFile(directory_ / "log").value_or(""); }

  TempDirectory directory_;
  const UniqueFd file_{open((directory_ / "log").c_str(), O_RDWR | O_CREAT, 0600)};
  const SystemClock clock_;
  const Logger log_{clock_, file_.get(), LogLevel::kInfo, false};
};

TEST_F(PowerProgramsTest, AProgramGetsTheNodesAsOneHostListAndNothingOfOurEnvironment) {
  PowerPrograms programs(directory_ / "power", log_);
  const std::string out = directory_ / "out";
  setenv("SECRET_OF_OURS", "1", 1);
  programs.Call({.program = Program("echo \"$#:$1:$SECRET_OF_OURS:$SLURM_RESUME_FILE\" >" + out),
                 .on = false,
                 .nodes = {"n1", "n2", "n3", "x7"},
                 .jobs = {},
                 .limit = std::chrono::seconds(30)});
  EXPECT_EQ(Await(out), "1:n[1-3],x7::\n");
}

TEST_F(PowerProgramsTest, AResumeProgramFindsTheNodesAndTheirJobsInAFileThatGoesAfterwards) {
  PowerPrograms programs(directory_ / "power", log_);
  const std::string out = directory_ / "out";
  programs.Call({.program = Program("cat \"$SLURM_RESUME_FILE\" >" + out + "; echo >>" + out),
                 .on = true,
                 .nodes = {"n1", "n2"},
                 .jobs = {{JobId(12), "gpu", {"n2", "n3"}}},
                 .limit = std::chrono::seconds(30)});
  const nlohmann::json file = nlohmann::json::parse(Await(out));
  EXPECT_EQ(file["all_nodes_resume"], "n[1-2]");
  ASSERT_EQ(file["jobs"].size(), 1U);
  EXPECT_EQ(file["jobs"][0]["job_id"], 12);
  EXPECT_EQ(file["jobs"][0]["partition"], "gpu");
  EXPECT_EQ(file["jobs"][0]["nodes_alloc"], "n[2-3]");
  EXPECT_EQ(file["jobs"][0]["nodes_resume"], "n2");
  EXPECT_EQ(file["jobs"][0]["features"], nlohmann::json());
  EXPECT_EQ(file["jobs"][0]["oversubscribe"], "OK");
  EXPECT_EQ(file["jobs"][0].size(), 8U);
  for (int i = 0; i < 1000 && !std::filesystem::is_empty(directory_ / "power"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "power"));
}

TEST_F(PowerProgramsTest, AProgramRunsAsTheUserOfItsClassWithNoRightOfOurs) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "NOT ROOT: no other user can be become";
  }
  PowerPrograms programs(directory_ / "power", log_);
  const std::filesystem::path shared = directory_ / "shared";
  std::filesystem::create_directory(shared);
  chmod((directory_ / "").c_str(), 0711);
  chmod(shared.c_str(), 0777);
  const std::string program =
      Program("echo $(id -u) $(id -g) $(id -G) $HOME $USER $LOGNAME $(pwd) $# $1 >" +
              (shared / "who").string() + "; grep ^Cap /proc/self/status >" +
              (shared / "rights").string() + "; cat \"$SLURM_RESUME_FILE\" >" +
              (shared / "file").string() + "; echo >>" + (shared / "file").string());
  chmod(program.c_str(), 0755);
  programs.Call({.program = program,
                 .user = "nobody",
                 .on = true,
                 .nodes = {"n1", "n2"},
                 .jobs = {},
                 .limit = std::chrono::seconds(30)});
  const nlohmann::json file = nlohmann::json::parse(Await(shared / "file"));
  EXPECT_EQ(file["all_nodes_resume"], "n[1-2]");
  const passwd* const nobody = getpwnam("nobody");
  const std::string group = std::to_string(nobody->pw_gid);
  EXPECT_EQ(Await(shared / "who"), std::to_string(nobody->pw_uid) + " " + group + " " + group +
                                       " " + nobody->pw_dir + " nobody nobody / 1 n[1-2]\n");
  const std::string rights = Await(shared / "rights");
  for (const char* kind : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    EXPECT_THAT(rights, HasSubstr(std::string(kind) + ":\t0000000000000000\n"));
  }
}

TEST_F(PowerProgramsTest, AProgramOfAUserWhoIsGoneIsNotRunAsAnybodyElse) {
  PowerPrograms programs(directory_ / "power", log_);
  const std::string out = directory_ / "out";
  programs.Call({.program = Program("id >" + out),
                 .user = "nobody-of-that-name",
                 .on = false,
                 .nodes = {"n1"},
                 .jobs = {},
                 .limit = std::chrono::seconds(30)});
  const std::string told = "program.sh n1: \"nobody-of-that-name\" is no user of this machine";
  for (int i = 0; i < 1000 && Log().find(told) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(Log(), HasSubstr(told));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(PowerProgramsTest, AProgramThatFailsIsMissingOrTakesTooLongIsToldOfInTheLog) {
  PowerPrograms programs(directory_ / "power", log_);
  const auto call = [&](const std::string& program, std::chrono::milliseconds limit) {
    programs.Call({.program = program, .on = false, .nodes = {"n1"}, .jobs = {}, .limit = limit});
  };
  const auto told = [&](const std::string& what) {
    for (int i = 0; i < 1000 && Log().find(what) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(Log(), HasSubstr(what));
  };
  call(directory_ / "nowhere", std::chrono::seconds(30));
  told("nowhere n1: ");
  call(Program("exit 3"), std::chrono::seconds(30));
  told("program.sh n1: failed with exit code 3");
  call(Program("sleep 600"), std::chrono::milliseconds(200));
  told("program.sh n1: takes too long: it is ended");
  told("program.sh n1: was ended by signal 9");
}

TEST_F(PowerProgramsTest, NobodyWaitsForAProgram) {
  const std::string program = Program("sleep 600");
  const auto begin = std::chrono::steady_clock::now();
  {
    PowerPrograms programs(directory_ / "power", log_);
    for (int i = 0; i < 4; ++i) {
      programs.Call({.program = program,
                     .on = false,
                     .nodes = {"n1"},
                     .jobs = {},
                     .limit = std::chrono::seconds(1)});
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(PowerProgramsTest, AProgramIsCalledOnlyForOrdersThatAreDurable) {
  core::testing::World world;
  const NodeId node = world.AddNode("n1");
  PowerClass alike;
  alike.nodes = "ALL";
  const std::string out = directory_ / "out";
  alike.suspend = Program("echo $1 >>" + out);
  world.config.power.push_back(alike);
  PowerSwitch power(directory_ / "power", log_);
  const std::vector<Effect> effects = {SwitchPower{node, false}};
  const auto lost = power.CallsFor(world.state, effects, nullptr, world.config);
  ASSERT_EQ(lost.size(), 1U);
  lost.front()(absl::UnavailableError("the disk is full"));
  power.CallsFor(world.state, effects, nullptr, world.config).front()(absl::OkStatus());
  EXPECT_EQ(Await(out), "n1\n") << "once";
  EXPECT_TRUE(power.CallsFor(world.state, {Replan{}}, nullptr, world.config).empty());
}

TEST(PowerCalls, NodesOfOneClassShareACallAndItNamesTheJobsThatWaitForThem) {
  core::testing::World world;
  for (const char* kind : {"a", "b"}) {
    PowerClass alike;
    alike.name = kind;
    alike.nodes = std::string(kind) + "[1-2]";
    alike.suspend = std::string("/off-") + kind;
    alike.resume = std::string("/on-") + kind;
    world.config.power.push_back(alike);
  }
  const NodeId a1 = world.AddNode("a1");
  const NodeId a2 = world.AddNode("a2");
  const NodeId b1 = world.AddNode("b1");
  const NodeId other = world.AddNode("other");
  ResourceRequest request = core::testing::Tasks(1);
  request.exclusive = true;
  request.constraint.every.postfix = {{FeatureOp::kHas, "big"}};
  const JobId job = world.Submit(request);
  Plan plan;
  plan.reservations.push_back({job, world.now, {{a2, 1}, {other, 1}}});
  const std::vector<PowerCall> calls =
      PowerCallsOf(world.state,
                   {SwitchPower{b1, false}, SwitchPower{a2, true}, SwitchPower{a1, true},
                    SwitchPower{other, true}, Replan{}},
                   &plan, world.config);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].program, "/on-a");
  EXPECT_THAT(calls[0].nodes, ElementsAre("a1", "a2"));
  ASSERT_EQ(calls[0].jobs.size(), 1U);
  EXPECT_THAT(calls[0].jobs[0].nodes, ElementsAre("a2", "other"));
  EXPECT_EQ(calls[0].jobs[0].features, "big");
  EXPECT_FALSE(calls[0].jobs[0].shares);
  EXPECT_EQ(calls[1].program, "/off-b");
  EXPECT_TRUE(calls[1].jobs.empty());
}

}  // namespace
}  // namespace muster::daemon
