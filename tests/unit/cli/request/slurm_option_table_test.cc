// The table of Slurm's options.

#include "cli/request/slurm_option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/request/job_option_table.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<OwnOption> Transition(const char* name, const std::string& value,
                                  unsigned command = kSbatch) {
  const SlurmOption* option = FindSlurmOption(name, command);
  EXPECT_NE(option, nullptr) << name;
  return Translate(*option, true, value).value();
}

TEST(SlurmOptionTable, EveryNameAndLetterStandsOnceForEachCommand) {
  for (const unsigned command : {kSbatch, kSrun, kSalloc}) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const SlurmOption& option : AllSlurmOptions()) {
      if ((option.commands & command) == 0) {
        continue;
      }
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
      EXPECT_TRUE(option.letter == '\0' || letters.insert(option.letter).second) << option.name;
    }
    EXPECT_GT(names.size(), 90U);
  }
}

TEST(SlurmOptionTable, WhatSbatchHonoursIsAnOptionOfOurs) {
  for (const SlurmOption& option : AllSlurmOptions()) {
    const std::string own = option.as;
    if ((option.commands & kSbatch) != 0 && !own.empty() && own != "wrap") {
      EXPECT_NE(FindJobOption(own), nullptr) << own;
    }
  }
}

TEST(SlurmOptionTable, APrefixThatOneOptionHasNamesIt) {
  EXPECT_STREQ(FindSlurmOption("time", kSbatch)->name, "time") << "not time-min";
  EXPECT_STREQ(FindSlurmOption("acct", kSbatch)->name, "acctg-freq");
  EXPECT_EQ(FindSlurmOption("tim", kSbatch), nullptr) << "time, time-min";
}

TEST(SlurmOptionTable, AnAmbiguousPrefixNamesNothing) {
  EXPECT_EQ(FindSlurmOption("no", kSbatch), nullptr);
  EXPECT_EQ(FindSlurmOption("", kSbatch), nullptr);
  EXPECT_EQ(FindSlurmOption("pty", kSbatch), nullptr) << "srun's";
  EXPECT_STREQ(FindSlurmOption('W', kSbatch)->name, "wait");
  EXPECT_EQ(FindSlurmOption('W', kSalloc), nullptr);
}

TEST(SlurmOptionTable, KindsOfMailAreThoseOfSlurm) {
  EXPECT_THAT(Transition("mail-type", "END,Fail"),
              ElementsAre(OwnOption{"recorded", "mail-type=END,Fail"}));
  EXPECT_FALSE(Translate(*FindSlurmOption("mail-type", kSbatch), true, "LATER").ok());
}

TEST(SlurmOptionTable, ValuesBecomeOurs) {
  EXPECT_THAT(Transition("exclusive", "user"), ElementsAre(OwnOption{"exclusive-user", ""}));
  EXPECT_THAT(Transition("mem", "0"), ElementsAre(OwnOption{"exclusive", ""}));
  EXPECT_THAT(Transition("mem", "0", kSrun), IsEmpty());
  EXPECT_THAT(Transition("gres", "gpu:a100:2,craynetwork:0"),
              ElementsAre(OwnOption{"gres", "gpu:a100:2"}));
  EXPECT_THAT(Transition("gres", "none"), IsEmpty());
  EXPECT_THAT(Transition("gres", "gres:gpu:1,scratch:2"),
              ElementsAre(OwnOption{"gres", "gpu:1,scratch:2"}));
  EXPECT_THAT(Transition("propagate", "NOFILE"), ElementsAre(OwnOption{"propagate", "NOFILE"}));
  EXPECT_THAT(Transition("gpus", "0"), IsEmpty());
  EXPECT_THAT(Transition("open-mode", "a"), ElementsAre(OwnOption{"open-mode", "append"}));
  EXPECT_THAT(Transition("no-kill", "off"), IsEmpty());
  EXPECT_THAT(Transition("nice", ""), ElementsAre(OwnOption{"nice", "100"}));
  EXPECT_THAT(Transition("nice", "-5"), ElementsAre(OwnOption{"nice", "-5"}));
  EXPECT_THAT(Transition("constraint", ""), IsEmpty());
  EXPECT_THAT(Transition("export", "NIL"), ElementsAre(OwnOption{"export", "NIL"}));
  EXPECT_THAT(Transition("tres-per-task", "cpu=2,gres/gpu:a100=1"),
              ElementsAre(OwnOption{"cpus-per-task", "2"}, OwnOption{"gpus-per-task", "a100:1"}));
  EXPECT_THAT(Transition("extra-node-info", "2:8:1"),
              ElementsAre(OwnOption{"sockets-per-node", "2"}, OwnOption{"cores-per-socket", "8"},
                          OwnOption{"threads-per-core", "1"}));
  EXPECT_THAT(Transition("mpi", "pmix_v4", kSrun), ElementsAre(OwnOption{"mpi", "pmix"}));
  EXPECT_THAT(Transition("kill-on-bad-exit", "0", kSrun), IsEmpty());
}

TEST(SlurmOptionTable, ComplaintsAreSlurms) {
  const auto complaint = [](const char* name, const std::string& value) {
    return SlurmComplaint(*FindSlurmOption(name, kEverySlurmCommand), value);
  };
  EXPECT_EQ(complaint("ntasks", "x"), "Invalid numeric value \"x\" for --ntasks.");
  EXPECT_EQ(complaint("time", "abc"), "Invalid --time specification");
  EXPECT_EQ(complaint("nodes", "x"), "\"x\" is not a valid node count");
  EXPECT_EQ(complaint("bb", "4"), "--bb: Requested operation is presently disabled");
  EXPECT_FALSE(Translate(*FindSlurmOption("bb", kSbatch), true, "4").ok());
}

}  // namespace
}  // namespace muster::cli
