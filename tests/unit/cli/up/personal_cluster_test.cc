#include "cli/up/personal_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Small shell programs stand in for the daemons: they say ready on descriptor 3, or do not.
class PersonalClusterTest : public ::testing::Test {
 protected:
  DaemonSpec Daemon(const std::string& name, const std::string& script) {
    const std::string path = directory_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    chmod(path.c_str(), 0700);
    return {.name = name, .program = path, .arguments = {"x"}, .log = directory_ / name + ".log"};
  }

  // Runs until everything has stopped.
  absl::Status Run(std::vector<DaemonSpec> daemons) {
    absl::Status result = absl::UnknownError("never stopped");
    PersonalCluster cluster(*loop_, std::move(daemons), {"PATH=/usr/bin:/bin"},
                            {.ready = [this] { on_ready_(); },
                             .tell = [this](const std::string& line) { lines_.push_back(line); },
                             .stopped =
                                 [&](const absl::Status& status) {
                                   result = status;
                                   loop_->Stop();
                                 }});
    stop_ = [&cluster] { cluster.Stop(); };
    on_ready_ = on_ready_ != nullptr ? on_ready_ : stop_;
    loop_->RunAfter(std::chrono::seconds(15), [this] { loop_->Stop(); });
    cluster.Start();
    EXPECT_TRUE(loop_->Run().ok());
    return result;
  }

  const TempDirectory directory_;
  const std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  std::vector<std::string> lines_;
  std::function<void()> on_ready_;
  std::function<void()> stop_;
};

TEST_F(PersonalClusterTest, StartsTheControllerFirstAndStopsAll) {
  const std::string order = directory_ / "order";
  const std::string ready = "echo $0 | sed 's|.*/||' >> " + order +
                            "; sleep 0.1; echo ready >&3\n" +
                            "trap 'exit 0' TERM; while :; do sleep 0.05; done\n";
  EXPECT_TRUE(Run({Daemon("first", ready), Daemon("second", ready)}).ok());
  EXPECT_EQ(ReadFile(order).value(), "first\nsecond\n");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(PersonalClusterTest, AFailedStartShowsTheLogsLastLine) {
  const absl::Status status =
      Run({Daemon("first", "echo ready >&3; exec sleep 30\n"),
           Daemon("second", "echo one >&2; echo bad topology: use another >&2; exit 3\n")});
  EXPECT_EQ(std::string(status.message()),
            "second did not start (exit code 3): bad topology: use another");
}

TEST_F(PersonalClusterTest, OldLogLinesAreNotTheReason) {
  std::ofstream(directory_ / "first.log") << "an old complaint\n";
  const absl::Status status = Run({Daemon("first", "exit 4\n")});
  EXPECT_THAT(std::string(status.message()), HasSubstr("first did not start (exit code 4): see "));
}

TEST_F(PersonalClusterTest, AMissingProgramIsAnError) {
  EXPECT_THAT(std::string(Run({{.name = "first",
                                .program = directory_ / "none",
                                .arguments = {},
                                .log = directory_ / "log"}})
                              .message()),
              HasSubstr("cannot start"));
}

TEST_F(PersonalClusterTest, ADaemonThatDiesIsStartedAgain) {
  const std::string mark = directory_ / "mark";
  on_ready_ = [this] {
    // Time for the death and the rebirth.
    loop_->RunAfter(std::chrono::milliseconds(1500), [this] { stop_(); });
  };
  EXPECT_TRUE(Run({Daemon("first", "echo ready >&3; [ -e " + mark + " ] || { touch " + mark +
                                       "; sleep 0.2; kill -9 $$; }; exec sleep 30\n")})
                  .ok());
  EXPECT_THAT(lines_,
              ElementsAre("first ended (signal 9); starting it again in 200 ms", "first is back"));
}

TEST_F(PersonalClusterTest, AChildHasItsOwnSessionAndLog) {
  EXPECT_TRUE(Run({Daemon("first",
                          "ps -o sid= -p $$ | tr -d ' '; echo $$; echo ready >&3\n"
                          "exec sleep 30\n")})
                  .ok());
  const std::string log = ReadFile(directory_ / "first.log").value();
  const std::size_t newline = log.find('\n');
  EXPECT_EQ(log.substr(0, newline + 1), log.substr(newline + 1)) << "session leader";
}

}  // namespace
}  // namespace muster::cli
