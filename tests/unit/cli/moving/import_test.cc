// Slurm's configuration as Muster's: each key becomes a setting, or a remark that says why not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cli/moving/conf_lines.h"
#include "cli/moving/dump_import.h"
#include "cli/moving/moved_settings.h"
#include "cli/moving/settings_import.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/settings/policy_tables.h"
#include "scheduler/settings/settings_file.h"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::vector<ConfLine>> LinesOf(std::map<std::string, std::string> files) {
  return ReadConfLines("slurm.conf",
                       [&files](const std::string& path) -> absl::StatusOr<std::string> {
                         const auto found = files.find(path);
                         if (found == files.end()) {
                           return absl::NotFoundError(path + ": is not there");
                         }
                         return found->second;
                       });
}

MovedSettings Moved(const std::string& conf, const std::string& dump = "") {
  MovedSettings settings;
  const auto lines = LinesOf({{"slurm.conf", conf}});
  EXPECT_TRUE(lines.ok()) << lines.status();
  ImportSettings(*lines, &settings);
  const absl::Status dumped = ImportDump(dump, "dump.cfg", &settings);
  EXPECT_TRUE(dumped.ok()) << dumped;
  return settings;
}

absl::Status Accepted(const std::string& text) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "musterd.toml");
  if (!file.ok()) {
    return file.status();
  }
  SchedulerConfig policy;
  if (const absl::Status settings = ReadSettings(*file, policy); !settings.ok()) {
    return settings;
  }
  const auto objects = ReadPolicy(*file);
  return objects.ok() ? CheckPolicyFile(*file, SitePolicy(), *objects) : objects.status();
}

TEST(ConfLines, CommentsContinuationsQuotesAndIncludedFilesAreRead) {
  const auto lines = LinesOf({{"slurm.conf",
                               "# all\nClusterName=c # its name\n"
                               "NodeName=n[1-2] \\\n  Reason=\"a # b\"\nInclude parts/p.conf\n"},
                              {"parts/p.conf", "PartitionName=p Nodes=n1\n"}});
  ASSERT_TRUE(lines.ok()) << lines.status();
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[0].words[0].value, "c");
  EXPECT_EQ((*lines)[1].place, "slurm.conf:3");
  EXPECT_EQ((*lines)[1].words[1].value, "a # b");
  EXPECT_EQ((*lines)[2].place, "parts/p.conf:1");
}

TEST(ConfLines, WhatIsNoPairAndWhatIncludesItselfIsRefusedWithItsPlace) {
  EXPECT_EQ(LinesOf({{"slurm.conf", "ClusterName=c\nwhat\n"}}).status().message(),
            "slurm.conf:2: \"what\" is not KEY=VALUE");
  EXPECT_THAT(std::string(LinesOf({{"slurm.conf", "Include slurm.conf\n"}}).status().message()),
              HasSubstr("include itself"));
}

TEST(Import, SettingsPartitionsAndLicencesAreWrittenAsMusterdTakesThem) {
  const std::string text =
      Moved(
          "ClusterName=lab\nKillWait=45\nMaxArraySize=5000\nPriorityWeightAge=1000\n"
          "PriorityDecayHalfLife=7-0\nPriorityWeightTRES=CPU=10,GRES/gpu=200\n"
          "Licenses=ansys:4,matlab\n"
          "PartitionName=DEFAULT MaxTime=2-00:00:00 State=UP\n"
          "PartitionName=main Nodes=n[1-4] Default=YES AllowQos=high\n"
          "PartitionName=long Nodes=n[5-6] MaxTime=INFINITE OverSubscribe=EXCLUSIVE\n")
          .Write();
  EXPECT_THAT(
      text, AllOf(HasSubstr("cluster = \"lab\"\n"), HasSubstr("kill_grace = \"45s\"\n"),
                  HasSubstr("array_elements_max = 5000\n"), HasSubstr("half_life = \"604800s\"\n"),
                  HasSubstr("weight_gpu = 200\n"), HasSubstr("matlab = 1\n"),
                  HasSubstr("[partition.main]\n"), HasSubstr("Nodes = \"n[1-4]\"\n"),
                  HasSubstr("[qos.high]\n"), HasSubstr("Exclusive = \"YES\"\n")));
  EXPECT_TRUE(Accepted(text).ok()) << Accepted(text) << "\n" << text;
}

TEST(Import, WhatHasNoCounterpartIsALineWithItsPlaceAndTheReason) {
  const MovedSettings settings = Moved(
      "SelectType=select/cons_tres\nTaskPlugin=task/cgroup\nNeverHeardOf=1\n"
      "NodeName=n1 CPUs=8 RealMemory=1000 Gres=gpu:2,shard:4 MemSpecLimit=100\n"
      "PartitionName=p Nodes=n1 SelectTypeParameters=CR_Core\n");
  EXPECT_THAT(
      settings.remarks(),
      ElementsAre(
          "slurm.conf:1: SelectType=select/cons_tres: cores, memory and GPUs are always given one "
          "by one, as with CR_Core_Memory",
          "slurm.conf:2: TaskPlugin=task/cgroup: tasks are always bound, and read back",
          "slurm.conf:3: NeverHeardOf=1: Muster has no such setting",
          "slurm.conf:4: n1: Gres=shard:4: parts of GPUs are asked for with --gpu-share",
          "slurm.conf:4: n1: MemSpecLimit=100: no cores and no memory are kept from jobs",
          "slurm.conf:5: SelectTypeParameters=CR_Core: Muster has no such property of partition"));
}

TEST(Import, WordsForAgentsAreCommentsOfTheirNodes) {
  const std::string text = Moved(
                               "NodeName=n[1-4] Feature=ib,zen4 Weight=10 Gres=gpu:2,scratch:4\n"
                               "Prolog=/etc/slurm/prolog\n")
                               .Write();
  EXPECT_THAT(text, HasSubstr("#   n[1-4]: features = [\"ib\", \"zen4\"], weight = 10, "
                              "gres = \"scratch:4\"\n"));
  EXPECT_THAT(text, HasSubstr("#   all: [prolog] program = \"/etc/slurm/prolog\"\n"));
}

TEST(Import, ADumpBecomesAccountsAndUsers) {
  const MovedSettings settings =
      Moved("ClusterName=lab\n",
            "# To edit this file\n"
            "Cluster - 'lab':Fairshare=1:QOS='normal'\n"
            "Parent - 'root'\n"
            "User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n"
            "Account - 'physics':Description='the: lab':Organization='uni':Fairshare=10\n"
            "Account - 'optics':Fairshare=2:GrpTRES='cpu=64':QOS='high,normal'\n"
            "Parent - 'physics'\n"
            "User - 'ada':DefaultAccount='physics':Fairshare=3:MaxJobs=5\n"
            "Account - 'lasers':Fairshare=4\n"
            "Parent - 'optics'\n"
            "User - 'ada':DefaultAccount='physics':Fairshare=9:MaxJobs=5\n"
            "User - 'bob':AdminLevel='Operator':Fairshare=1\n");
  const std::string text = settings.Write();
  EXPECT_THAT(text, AllOf(HasSubstr("[account.physics]\n"), HasSubstr("[account.lasers]\n"),
                          HasSubstr("Parent = \"physics\"\n"), HasSubstr("[user.ada]\n"),
                          HasSubstr("accounts = \"physics,optics\"\n"),
                          HasSubstr("default_account = \"physics\"\n"), HasSubstr("[qos.high]\n")));
  EXPECT_THAT(settings.remarks(), Contains(HasSubstr("dump.cfg:11: ada in optics: Fairshare=9")));
  EXPECT_THAT(settings.Write(), HasSubstr("[access]\noperators = [\"bob\"]\n"));
  EXPECT_THAT(settings.remarks(), Not(Contains(HasSubstr("MaxJobs"))));
  EXPECT_TRUE(Accepted(text).ok()) << Accepted(text) << "\n" << text;
}

TEST(Import, ALineOfADumpThatIsNoneIsRefusedWithItsPlace) {
  MovedSettings settings;
  EXPECT_EQ(ImportDump("Parent - 'root'\nwhat\n", "dump.cfg", &settings).message(),
            "dump.cfg:2: \"what\" is not KIND - 'NAME':KEY=VALUE");
}

TEST(Import, ValuesBreakNeitherTheFileNorItsComments) {
  MovedSettings settings;
  settings.SetText("", "cluster", "a\"b\\c\nd");
  settings.Remark("x:1", "what\never", "why");
  const std::string text = settings.Write();
  EXPECT_THAT(text, HasSubstr("cluster = \"a\\\"b\\\\c\\u000ad\"\n"));
  EXPECT_THAT(text, HasSubstr("#   x:1: what ever: why\n"));
  EXPECT_TRUE(ConfigFile::Parse(text, "x").ok());
}

TEST(Import, OperatorsCoordinatorsAndWhatIsPrivateMoveIn) {
  const MovedSettings settings = Moved(
      "ClusterName=c\nPrivateData=jobs,accounts,nodes\n",
      "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Fairshare=1\n"
      "Account - 'b':Fairshare=1\nParent - 'a'\n"
      "User - 'ada':Coordinator='a,b':Fairshare=1\n"
      "User - 'bob':Coordinator='a':AdminLevel='Administrator'\nUser - 'eve':AdminLevel='None'\n"
      "Parent - 'b'\nUser - 'bob':AdminLevel='Administrator'\n");
  const std::string text = settings.Write();
  EXPECT_THAT(text, HasSubstr("operators = [\"bob\"]\n"
                              "private = [\"jobs\", \"history\", \"nodes\"]\n"));
  EXPECT_THAT(text, HasSubstr("[access.coordinators]\na = [\"ada\", \"bob\"]\nb = [\"ada\"]\n"));
  EXPECT_THAT(settings.remarks(), Contains(HasSubstr("PrivateData=accounts: only jobs, usage")));
}

}  // namespace
}  // namespace muster::cli
