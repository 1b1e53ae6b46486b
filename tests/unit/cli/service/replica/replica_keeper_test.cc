#include "cli/service/replica/replica_keeper.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

class ReplicaKeeperTest : public ::testing::Test {
 protected:
  // Keeps the script in a process of its own, without a controller.
  void Keep(const std::string& script) {
    keeper_ = fork();
    if (keeper_ == 0) {
      const Environment environment({"MUSTER_JOB_ID=1", "PATH=/usr/bin:/bin",
                                     absl::StrCat("MUSTER_CONTROLLER=unix:", directory_ / "none"),
                                     absl::StrCat("STARTS=", starts_)});
      KeptReplica replica;
      replica.ports = {"http"};
      replica.script = script;
      replica.arguments = {"word"};
      replica.probe.interval = milliseconds(100);
      replica.terms = {.interval = milliseconds(100), .start_grace = Duration(0)};
      const absl::StatusOr<int> code = KeepReplica(
          {.environment = environment, .verbs = {}, .values = {}, .arguments = {}}, replica);
      _exit(code.ok() ? *code : 1);
    }
  }
  ~ReplicaKeeperTest() override {
    if (keeper_ > 0) {
      kill(keeper_, SIGKILL);
      waitpid(keeper_, nullptr, 0);
    }
  }

  // What its program has written, once that are enough lines.
  std::vector<std::string> Lines(std::size_t count) const {
    std::vector<std::string> lines;
    for (int i = 0; i < 600 && lines.size() < count; ++i) {
      std::this_thread::sleep_for(milliseconds(100));
      lines.clear();
      std::ifstream file(starts_);
      for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
      }
    }
    return lines;
  }
  // The exit code after SIGTERM.
  int End() {
    kill(keeper_, SIGTERM);
    int status = 0;
    EXPECT_EQ(waitpid(keeper_, &status, 0), keeper_);
    keeper_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const TempDirectory directory_;
  const std::string starts_ = directory_ / "starts";
  pid_t keeper_ = 0;
};

TEST_F(ReplicaKeeperTest, AReplicaThatFailsItsProbeIsStartedAgain) {
  Keep("#!/bin/sh\necho \"$PORT $MUSTER_PORT_HTTP $1\" >>$STARTS\nexec sleep 600\n");
  const std::vector<std::string> lines = Lines(2);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_NE(lines[0], lines[1]) << "at other ports";
  const std::string port = lines[0].substr(0, lines[0].find(' '));
  EXPECT_EQ(lines[0], absl::StrCat(port, " ", port, " word"));
  EXPECT_EQ(End(), 128 + SIGTERM);
}

TEST_F(ReplicaKeeperTest, AProgramThatEndsIsStartedAgain) {
  Keep("#!/bin/sh\necho \"$PORT\" >>$STARTS\nexit 7\n");
  EXPECT_GE(Lines(2).size(), 2U);
  EXPECT_EQ(End(), 128 + SIGTERM);
}

TEST_F(ReplicaKeeperTest, WhoIsToldToEndEndsItsProgramFirst) {
  Keep(
      "#!/bin/sh\ntrap 'echo ended >>$STARTS; exit' TERM\necho began >>$STARTS\n"
      "while :; do sleep 0.05; done\n");
  ASSERT_EQ(Lines(1).size(), 1U);
  EXPECT_EQ(End(), 128 + SIGTERM);
  EXPECT_EQ(Lines(2), (std::vector<std::string>{"began", "ended"}));
}

TEST_F(ReplicaKeeperTest, OutsideOfAJobNothingIsKept) {
  const Environment environment;
  const auto code = KeepReplica(
      {.environment = environment, .verbs = {}, .values = {}, .arguments = {}}, KeptReplica());
  EXPECT_EQ(code.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace muster::cli
