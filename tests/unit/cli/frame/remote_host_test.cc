#include "cli/frame/remote_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/verbs.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;

RemoteCommand Of(const Verb& verb, const std::vector<std::string>& words, bool terminal = false) {
  return OnHost({"ssh"}, "box", verb, words, terminal).value();
}

TEST(RemoteHost, WordsArriveAsTheyWereGiven) {
  const RemoteCommand run = Of(RunVerb(), {"run", "-n2", "sh", "-c", "echo $HOME; it's"});
  EXPECT_THAT(run.argv,
              ElementsAre("ssh", "--", "box", "muster run -n2 sh -c 'echo $HOME; it'\\''s'"));
  EXPECT_EQ(run.script, "");
  EXPECT_THAT(Of(QueueVerb(), {"queue"}, true).argv,
              ElementsAre("ssh", "-t", "--", "box", "muster queue"));
}

TEST(RemoteHost, AScriptOfThisMachineGoesAlong) {
  const RemoteCommand script =
      Of(SubmitVerb(), {"submit", "-n", "2", ":", "-c3", "job.sh", "job.sh"}, true);
  EXPECT_EQ(script.script, "job.sh");
  EXPECT_THAT(script.argv, ElementsAre("ssh", "--", "box", "muster submit -n 2 : -c3 - job.sh"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"submit", "--wrap", "job.sh"},
        {"submit", "-"},
        {"submit", "--no-such-option", "job.sh"}}) {
    EXPECT_EQ(Of(SubmitVerb(), words).script, "") << words.back();
  }
}

TEST(RemoteHost, WhatSshWouldTakeForAnOptionIsNoHost) {
  for (const char* host : {"", "-", "-oProxyCommand=touch /tmp/x"}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(OnHost({"ssh"}, host, QueueVerb(), {"queue"}, false).status()))
        << host;
  }
}

}  // namespace
}  // namespace muster::cli
