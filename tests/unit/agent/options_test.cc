#include "agent/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AgentOptionsTest : public ::testing::Test {
 protected:
  // Writes the file that --config names.
  void Write(const std::string& text) { std::ofstream(directory_ / "agent.toml") << text; }
  ParsedOptions Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"muster-agent", "--config", directory_ / "agent.toml"});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    ::testing::internal::CaptureStderr();
    ParsedOptions parsed = ParseAgentOptions(static_cast<int>(argv.size()), argv.data());
    said_ = ::testing::internal::GetCapturedStderr();
    return parsed;
  }
  std::string said_;

 private:
  TempDirectory directory_;
};

TEST_F(AgentOptionsTest, ClassesOfTrafficSayByWhichNicsAndHowFast) {
  Write(
      "controller = \"unix:/c\"\n[network.class.checkpoints]\nnics = [\"lo\"]\nrate = \"200M\"\n"
      "[network.class.collectives]\ndscp = 26\n");
  const NetworkClasses classes = Parse({"--state", "/s"}).options.network;
  EXPECT_THAT(classes,
              ElementsAre(NetworkClass{.name = "checkpoints", .nics = {"lo"}, .rate = 200U << 20},
                          NetworkClass{.name = "collectives", .nics = {}, .dscp = 26}))
      << said_;
}

TEST_F(AgentOptionsTest, AClassOfTrafficThatCannotBeIsRefusedInOneLine) {
  const auto said = [this](const std::string& lines) {
    Write("controller = \"unix:/c\"\n[network.class." + lines + "\n");
    EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
    return said_;
  };
  EXPECT_THAT(said("storage]\ndscp = 1"),
              HasSubstr("agent.toml:2: network.class.storage: is no class of traffic: use one of "
                        "collectives, checkpoints, staging"));
  EXPECT_THAT(said("staging]\nnics = [\"none7\"]"),
              HasSubstr("agent.toml:3: network.class.staging.nics: this machine has no NIC "));
  EXPECT_THAT(said("staging]\nnics = [\"../net/lo\"]"), HasSubstr("this machine has no NIC "));
  EXPECT_THAT(said("staging]\ndscp = 64"), HasSubstr("network.class.staging.dscp"));
  EXPECT_THAT(said("staging]\nspeed = 1"), HasSubstr("network.class.staging.speed"));
  EXPECT_THAT(said("collectives]\nrate = \"1G\""),
              HasSubstr("network.class.collectives.rate: what ranks exchange is not paced"));
}

TEST_F(AgentOptionsTest, AFileSaysWhatTheCommandLineDoesNot) {
  Write(R"(
controller = "unix:/run/c.sock"
name = "n1"
features = ["ib", "zen4"]
weight = 7
pids_max = 100
memory_high = 90
cgroup_root = "muster.slice/jobs"
)");
  const ParsedOptions parsed = Parse({"--state", "/s", "--name", "n2", "--weight", "9"});
  ASSERT_EQ(parsed.exit_code, -1) << said_;
  EXPECT_EQ(parsed.options.controller, "unix:/run/c.sock");
  EXPECT_EQ(parsed.options.state, "/s");
  EXPECT_EQ(parsed.options.name, "n2");
  EXPECT_EQ(parsed.options.weight, 9U);
  EXPECT_EQ(parsed.options.pids, 100U);
  EXPECT_EQ(parsed.options.memory_high, 90U);
  EXPECT_EQ(parsed.options.cgroup_root, "muster.slice/jobs");
  EXPECT_THAT(parsed.options.features, ElementsAre("ib", "zen4"));
}

TEST_F(AgentOptionsTest, AMistakeInTheFileIsOneLineThatSaysWhere) {
  Write("controller = \"unix:/c\"\nweight = -1\n");
  EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("agent.toml:2: weight: "));
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
  Write("controler = \"unix:/c\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("controler"));
}

TEST_F(AgentOptionsTest, JobsAreLookedAtEveryFewSeconds) {
  Write("controller = \"unix:/c\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.sample_interval, std::chrono::seconds(10));
  Write("controller = \"unix:/c\"\nsample_interval = \"30s\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.sample_interval, std::chrono::seconds(30));
  for (const char* wrong : {"4999ms", "31s", "often"}) {
    Write(std::string("controller = \"unix:/c\"\nsample_interval = \"") + wrong + "\"\n");
    EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
    EXPECT_THAT(said_, HasSubstr("agent.toml:2: sample_interval: ")) << wrong;
  }
}

TEST_F(AgentOptionsTest, ARegistryIsWaitedForAsLongAsTheFileSays) {
  Write("controller = \"unix:/c\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.containers.fetch_patience, 120U);
  EXPECT_TRUE(Parse({"--state", "/s"}).options.containers.squashfuse);
  Write("controller = \"unix:/c\"\n[containers]\nfetch_patience = \"5m\"\nsquashfuse = false\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.containers.fetch_patience, 300U);
  EXPECT_FALSE(Parse({"--state", "/s"}).options.containers.squashfuse);
  Write("controller = \"unix:/c\"\n[containers]\nfetch_patience = \"0s\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("agent.toml:3: containers.fetch_patience: give 1s to 24h"));
}

TEST_F(AgentOptionsTest, CopiesOfDataAreKeptWhereAndAsLongAsTheFileSays) {
  Write("controller = \"unix:/c\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.staging.size, std::uint64_t{100} << 30);
  Write("controller = \"unix:/c\"\n[staging]\ncache = \"/nvme\"\nsize = \"2T\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.staging.size, std::uint64_t{2} << 40);
  EXPECT_EQ(Parse({"--state", "/s"}).options.staging.cache, "/nvme");
  EXPECT_EQ(Parse({"--state", "/s"}).options.ahead,
            geteuid() == 0 ? CopiesAhead::kPaths : CopiesAhead::kAll);
  Write("controller = \"unix:/c\"\n[staging]\nahead = \"all\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).options.ahead, CopiesAhead::kAll);
  Write("controller = \"unix:/c\"\n[staging]\nahead = \"some\"\n");
  EXPECT_NE(Parse({"--state", "/s"}).exit_code, -1);
  Write("controller = \"unix:/c\"\n[staging]\ncache = \"nvme\"\n");
  EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("agent.toml:3: staging.cache: give an absolute path"));
}

TEST_F(AgentOptionsTest, AServiceOfPamHasToBeThere) {
  for (const char* wrong : {"no-such-service", "../shadow", "/no/such/file"}) {
    Write(std::string("controller = \"unix:/c\"\npam_service = \"") + wrong + "\"\n");
    EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2) << wrong;
    EXPECT_THAT(said_, HasSubstr("agent.toml:2: pam_service: "));
    EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
  }
}

TEST_F(AgentOptionsTest, AFileThatIsNotThereIsRefused) {
  EXPECT_EQ(Parse({"--state", "/s", "--controller", "unix:/c"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("agent.toml"));
}

TEST_F(AgentOptionsTest, APrivateTmpDoesNotHideTheAgentsOwnState) {
  Write("controller = \"unix:/c\"\nprivate_tmp = true\n");
  EXPECT_EQ(Parse({"--state", "/tmp/../tmp/state"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("--private-tmp: "));
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
}

TEST_F(AgentOptionsTest, WhatNeitherSaysIsMissed) {
  Write("");
  EXPECT_EQ(Parse({"--state", "/s"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("--controller is required"));
  EXPECT_EQ(Parse({"--controller", "unix:/c"}).exit_code, 2);
  EXPECT_THAT(said_, HasSubstr("--state is required"));
}

}  // namespace
}  // namespace muster::agent
