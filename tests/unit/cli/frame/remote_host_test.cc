#include "cli/frame/remote_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;

RemoteCommand Of(const std::vector<std::string>& words, std::size_t script, bool terminal) {
  return OnHost({"ssh", "-v"}, "box", words, script, terminal).value();
}

TEST(RemoteHost, WordsArriveAsTheyWereGiven) {
  const RemoteCommand run = Of({"run", "-n2", "sh", "-c", "echo $HOME; it's"}, 5, false);
  EXPECT_THAT(run.argv,
              ElementsAre("ssh", "-v", "--", "box", "muster run -n2 sh -c 'echo $HOME; it'\\''s'"));
  EXPECT_EQ(run.script, "");
  EXPECT_THAT(Of({"queue"}, 1, true).argv,
              ElementsAre("ssh", "-v", "-t", "--", "box", "muster queue"));
}

TEST(RemoteHost, AScriptOfThisMachineGoesAlong) {
  const RemoteCommand script = Of({"submit", "-n", "2", "job.sh", "job.sh"}, 3, true);
  EXPECT_EQ(script.script, "job.sh");
  EXPECT_THAT(script.argv, ElementsAre("ssh", "-v", "--", "box", "muster submit -n 2 - job.sh"));
}

TEST(RemoteHost, WhatSshWouldTakeForAnOptionIsNoHost) {
  for (const char* host : {"", "-", "-oProxyCommand=touch /tmp/x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(OnHost({"ssh"}, host, {"queue"}, 1, false).status()))
        << host;
  }
}

}  // namespace
}  // namespace muster::cli
