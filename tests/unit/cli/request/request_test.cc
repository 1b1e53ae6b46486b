#include "cli/request/request.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

std::string Write(const TempDirectory& directory, const std::string& content) {
  const std::string path = directory / "job.sh";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(Script, MustBeAScript) {
  const TempDirectory directory;
  EXPECT_EQ(LoadScript(Write(directory, "#!/bin/sh\necho hi\n")).value().text,
            "#!/bin/sh\necho hi\n");
  for (const std::string& bad :
       {std::string("echo hi\n"), std::string(), std::string("#!/bin/sh\n\0x", 12),
        std::string("#!/bin/sh\n\xff\n"), "#!/bin/sh\n" + std::string(kScriptBytesMax, 'x')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(LoadScript(Write(directory, bad)).status()));
  }
  EXPECT_TRUE(absl::IsNotFound(LoadScript(directory / "none").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(LoadScript(directory.path()).status()));
}

// As /dev/stdin of a pipe is, and what the shell makes of <(COMMAND).
TEST(Script, APipeIsReadOnceItsWriterWrites) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  std::thread writer([writer = UniqueFd(ends[1])] {
    const std::string text = "#!/bin/sh\necho late\n";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  });
  const absl::StatusOr<Script> script = LoadScript(absl::StrCat("/dev/fd/", reader.get()));
  writer.join();
  ASSERT_TRUE(script.ok()) << script.status();
  EXPECT_EQ(script->text, "#!/bin/sh\necho late\n");
}

TEST(Script, AWrappedCommandIsOne) {
  EXPECT_THAT(WrapCommand("hostname").value().text, HasSubstr("#!/bin/sh\n"));
  EXPECT_FALSE(WrapCommand("").ok());
  EXPECT_FALSE(WrapCommand("echo \xff").ok());
}

absl::Status Complete(JobRequest request, bool local = true) {
  const Environment environment(std::vector<std::string>{"A=1"});
  return CompleteRequest({.environment = environment, .local = local, .fallback = "/x/job.sh"},
                         &request);
}

TEST(Request, DirectoriesAndOutputsAreChecked) {
  const TempDirectory directory;
  JobRequest request;
  request.program.work_dir = directory.path();
  EXPECT_TRUE(Complete(request).ok());
  request.program.stdout_path = "%x/never-known-before.out";
  EXPECT_TRUE(Complete(request).ok()) << "a pattern's directory is not known yet";
  request.program.stdout_path = "/dev/null";
  EXPECT_TRUE(Complete(request).ok());
  request.program.stdout_path = "missing/out";
  EXPECT_TRUE(absl::IsNotFound(Complete(request)));
  EXPECT_TRUE(Complete(request, /*local=*/false).ok()) << "another machine's paths are its own";
  request.program.stdout_path = directory.path();
  EXPECT_TRUE(absl::IsFailedPrecondition(Complete(request)));
  request.program.stdout_path = "";
  request.program.work_dir = directory / "none";
  EXPECT_TRUE(absl::IsNotFound(Complete(request)));
  request.program.work_dir = Write(directory, "a file");
  EXPECT_TRUE(absl::IsFailedPrecondition(Complete(request)));
}

TEST(Request, WhatWasSaidOfCheckpointsTravelsInTheEnvironment) {
  const TempDirectory directory;
  const Environment environment;
  JobRequest request;
  request.program.work_dir = directory.path();
  request.checkpoint_dir = "state/../kept";
  request.checkpoint_interval = "900";
  request.exports.all = false;
  ASSERT_TRUE(CompleteRequest({.environment = environment, .fallback = "x"}, &request).ok());
  EXPECT_THAT(request.program.environment,
              IsSupersetOf({"MUSTER_SUBMIT_CHECKPOINT_DIR=" + directory.path() + "/kept",
                            std::string("MUSTER_CHECKPOINT_INTERVAL=900")}));
}

TEST(Request, WhereItWasSubmittedAndWhatWasSaidTravelsInTheEnvironment) {
  const Environment environment;
  JobRequest request;
  request.exports.all = false;
  request.said = {"ntasks", "time"};
  ASSERT_TRUE(CompleteRequest({.environment = environment, .fallback = "x"}, &request).ok());
  EXPECT_THAT(request.program.environment, Contains("MUSTER_SUBMIT_SAID=ntasks,time"));
  EXPECT_THAT(request.program.environment, Contains(StartsWith("MUSTER_SUBMIT_HOST=")));
  EXPECT_THAT(request.program.environment, Contains(StartsWith("MUSTER_SUBMIT_DIR=/")));
  JobRequest step;
  step.exports.all = false;
  ASSERT_TRUE(
      CompleteRequest({.environment = environment, .new_job = false, .fallback = "x"}, &step).ok());
  EXPECT_THAT(step.program.environment, ElementsAre("MUSTER_SUBMIT_SAID="));
}

TEST(Request, TheNameComesFromTheScript) {
  const Environment environment;
  JobRequest request;
  ASSERT_TRUE(
      CompleteRequest({.environment = environment, .fallback = "/x/job.sh"}, &request).ok());
  EXPECT_EQ(request.spec.name, "job.sh");
  EXPECT_EQ(request.program.work_dir.front(), '/');
}

TEST(Token, Is32FreshHexDigits) {
  const std::string token = MakeToken().value();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, MakeToken().value());
}

TEST(EnvironmentFilter, AllIsEverythingThatCanTravel) {
  const Environment environment({"A=1", "B=x=y", "=odd", "none", "LATIN=\xe9", "MUSTER_STATE=/s"});
  EXPECT_THAT(SelectEnvironment(environment, {}, true).value(),
              ElementsAre("A=1", "B=x=y", "MUSTER_STATE=/s"));
}

TEST(EnvironmentFilter, ListsAndAssignmentsChoose) {
  const Environment environment({"A=1", "B=2", "C=3"});
  EXPECT_THAT(SelectEnvironment(environment, {false, {"B", "X"}, {"C=new"}}, true).value(),
              ElementsAre("B=2", "C=new"));
  EXPECT_TRUE(SelectEnvironment(environment, {false, {}, {}}, true).value().empty());
  EXPECT_THAT(SelectEnvironment(environment, {true, {}, {"A=9"}}, true).value(),
              ElementsAre("B=2", "C=3", "A=9"));
}

TEST(EnvironmentFilter, OfOneNameTheLastCounts) {
  const Environment environment({"A=1", "B=2", "A=3"});
  EXPECT_THAT(SelectEnvironment(environment, {}, true).value(), ElementsAre("B=2", "A=3"));
  EXPECT_THAT(SelectEnvironment(environment, {false, {}, {"C=1", "C=2"}}, true).value(),
              ElementsAre("C=2"));
}

TEST(EnvironmentFilter, ANewJobLeavesTheOldJobsNamesBehind) {
  const Environment environment({"MUSTER_JOB_ID=7", "SLURM_NTASKS=2", "HOME=/h"});
  EXPECT_THAT(SelectEnvironment(environment, {}, true).value(), ElementsAre("HOME=/h"));
  EXPECT_EQ(SelectEnvironment(environment, {}, false).value().size(), 3U) << "a step keeps them";
}

TEST(EnvironmentFilter, ANewJobOfAJobKnowsTheControllerAsItDid) {
  const Environment environment(
      {"MUSTER_JOB_ID=7", "MUSTER_KEYS=/k", "MUSTER_MUNGE_SOCKET=/m", "MUSTER_STATE=/s"});
  EXPECT_THAT(SelectEnvironment(environment, {}, true).value(),
              ElementsAre("MUSTER_KEYS=/k", "MUSTER_MUNGE_SOCKET=/m"));
}

TEST(EnvironmentFilter, IsBounded) {
  const Environment environment({"BIG=" + std::string(kEnvironmentBytesMax, 'x')});
  EXPECT_TRUE(absl::IsInvalidArgument(SelectEnvironment(environment, {}, true).status()));
  EXPECT_TRUE(SelectEnvironment(environment, {false, {}, {}}, true).ok());
}

TEST(AddressText, IsAUnixPathOrHostAndPort) {
  EXPECT_EQ(ParseAddress("unix:/run/x.sock").value().path, "/run/x.sock");
  EXPECT_EQ(ParseAddress("[::1]:7700").value().host, "::1");
  EXPECT_EQ(ParseAddress("node1:7700").value().port, "7700");
  EXPECT_EQ(ParseAddress("a:1,b:2").value().host, "a");
  EXPECT_EQ(ParseAddress("a:1,b:2").value().text, "a:1,b:2");
  EXPECT_FALSE(ParseAddress("a:1,unix:/b").ok());
  EXPECT_FALSE(ParseAddress("a:1,,c:3").ok());
  for (const char* text : {"", "unix:", "host", "host:", ":70", "host:0", "host:65536", "a:b:1",
                           "host:7x", "http://x:70"}) {
    EXPECT_FALSE(ParseAddress(text).ok()) << text;
  }
  for (const char* text :
       {"unix:/x", "127.0.0.1:7700", "127.3.2.1:7700", "[::1]:7700", "localhost:7700"}) {
    EXPECT_TRUE(IsLocal(ParseAddress(text).value())) << text;
  }
  for (const char* text : {"node1:7700", "127.evil.example:7700", "127.0.0.1.evil.example:7700",
                           "128.0.0.1:7700", "[2001:db8::1]:7700", "127:7700"}) {
    EXPECT_FALSE(IsLocal(ParseAddress(text).value())) << text;
  }
}

TEST(AddressText, IsFoundInOrder) {
  const TempDirectory keys;
  std::ofstream(keys / "ca.pem") << "whom to trust";
  const Environment environment({"MUSTER_CONTROLLER=[::1]:7700", "MUSTER_KEYS=" + keys.path(),
                                 "XDG_STATE_HOME=/xdg", "HOME=/h"});
  EXPECT_EQ(ControllerAddress("unix:/a", "", environment).value().text, "unix:/a");
  EXPECT_EQ(ControllerAddress("", "", environment).value().text, "[::1]:7700");
  EXPECT_EQ(ControllerAddress("", "/s", environment).value().text, "unix:/s/controller.sock");
  EXPECT_EQ(ControllerAddress("", "", Environment({"XDG_STATE_HOME=/xdg"})).value().text,
            "unix:/xdg/muster/controller.sock");
  EXPECT_EQ(StateDirectory("", Environment({"HOME=/h"})).value(), "/h/.local/state/muster");
  EXPECT_EQ(StateDirectory("", Environment({"HOME=/h", "MUSTER_STATE=/m"})).value(), "/m");
  EXPECT_FALSE(StateDirectory("", Environment()).ok());
}

TEST(AddressText, OverTcpSomethingSaysWhomToTrustOnThisMachineToo) {
  for (const char* host : {"node1", "127.0.0.1", "localhost", "[::1]", "127.evil.example"}) {
    const std::string text = std::string(host) + ":7700";
    const absl::Status nothing =
        ControllerAddress(text, "", Environment({"MUSTER_KEYS=/nowhere"})).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(nothing)) << nothing;
    EXPECT_THAT(std::string(nothing.message()), HasSubstr("/nowhere has no ca.pem"));
    const TempDirectory place;
    std::ofstream(place / "ca.pem") << "whom to trust";
    const absl::StatusOr<Address> address =
        ControllerAddress(text, "", Environment({"MUSTER_KEYS=" + place.path()}));
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->text, text);
    EXPECT_EQ(address->keys.authority, place / "ca.pem");
    if (!std::filesystem::exists("/etc/muster/ca.pem")) {
      EXPECT_TRUE(absl::IsFailedPrecondition(ControllerAddress(text, "", Environment()).status()));
    }
  }
}

}  // namespace
}  // namespace muster::cli
