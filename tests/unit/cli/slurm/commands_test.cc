// Commands that need the controller, where there is none: one line, and never a wait.

#include "cli/slurm/commands.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "cli/slurm/accounts/account_change.h"
#include "cli/slurm/control/scontrol_local.h"
#include "cli/slurm/format/batch_word.h"
#include "cli/slurm/live/cmd_sdiag.h"
#include "cli/slurm/live/cmd_sprio.h"
#include "cli/slurm/live/cmd_sstat.h"
#include "cli/slurm/nodes/node_document.h"
#include "cli/slurm/report/cmd_sreport.h"
#include "cli/slurm/report/report_words.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

Ran RunLine(const std::function<int(const Call&)>& command, const std::string& line) {
  const Environment environment({"MUSTER_CONTROLLER=unix:/nowhere/at/all"});
  std::ostringstream out;
  std::ostringstream err;
  const Call call{environment, line.substr(0, line.find(' ')), recorded::WordsOf(line), out, err};
  const int code = command(call);
  return {code, out.str(), err.str()};
}

TEST(Commands, SayInOneLineThatNoControllerAnswers) {
  using Named = std::pair<int (*)(const Call&), const char*>;
  for (const auto& [command, line] : {Named{RunSprio, "sprio"}, Named{RunSdiag, "sdiag"},
                                      Named{RunSreport, "sreport cluster utilization"}}) {
    const Ran ran = RunLine(command, line);
    EXPECT_EQ(ran.code, 1) << line;
    EXPECT_NE(ran.err.find("Unable to contact slurm controller"), std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
  }
}

TEST(Commands, AskNoControllerForWhatIsWrongWithTheirWords) {
  for (const char* const line : {"sstat", "sstat -j abc", "sstat -j 14 -o nosuch"}) {
    const std::string file = std::string(line) == "sstat -j abc" ? "people_more" : "people";
    const recorded::Answer theirs = recorded::Of(file, line);
    const Ran ran = RunLine(RunSstat, line);
    EXPECT_EQ(ran.code, theirs.code) << line;
    EXPECT_EQ(ran.err, theirs.err) << line;
  }
  EXPECT_EQ(RunLine(RunSreport, "sreport").code, 1);
  EXPECT_EQ(RunLine(RunSdiag, "sdiag --json=v1").code, 1);
  EXPECT_EQ(RunLine(RunSprio, "sprio -o %~").err,
            "sprio: error: Invalid job format specification: ~\n");
}

TEST(Commands, AReadonlySacctmgrChangesNothing) {
  const Ran ran = RunLine(
      [](const Call& call) {
        return ChangeAccounts(call, ManagerVerb::kAdd, {"account", "ro"}, {.readonly = true});
      },
      "sacctmgr");
  const recorded::Answer theirs = recorded::Of("manager", "sacctmgr -r -i add account ro");
  EXPECT_EQ(ran.code, theirs.code);
  EXPECT_EQ(ran.err, theirs.err);
}

TEST(Commands, WhatASiteHasNotEnabledIsRefused) {
  const Ran ran = RunLine(
      [](const Call& call) {
        return RefuseReconfigure({.call = call, .words = {}, .scene = {}, .quiet = false});
      },
      "scontrol reconfigure");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, ::testing::StartsWith("slurm_reconfigure error"));
}

TEST(NodeDocument, CountsNodesAndTheirCpus) {
  NodeView node;
  node.name = "n1";
  node.state = "MIXED+DRAIN";
  node.cpus = 8;
  node.cpus_taken = 2;
  node.memory = kMebibyte * 4000;
  PolicyView partition;
  partition.name = "main";
  partition.implied = true;
  const Json entry = NodeEntry(node, {partition});
  EXPECT_EQ(entry["state"], Json::array({"MIXED", "DRAIN"}));
  EXPECT_EQ(entry["partitions"], Json::array({"main"}));
  EXPECT_EQ(entry["alloc_idle_cpus"], 6);
  EXPECT_EQ(PartitionEntry(partition, {node})["cpus"]["total"], 8);
  const Json line = SinfoEntry(partition, {&node}, "gold");
  EXPECT_EQ(line["cpus"]["other"], 6);
  EXPECT_EQ(line["nodes"]["nodes"], Json::array({"n1"}));
  EXPECT_EQ(line["memory"]["maximum"], 4000);
}

TEST(BatchWord, AJobOfOneStepFromItsStartHasNoScript) {
  JobDetail detail;
  EXPECT_TRUE(HasScript(detail));
  detail.attempts.resize(1);
  detail.steps.resize(1);
  detail.attempts[0].start_time = detail.steps[0].start_time = Time(Duration(5));
  EXPECT_FALSE(HasScript(detail));
}

}  // namespace
}  // namespace muster::cli::slurm
