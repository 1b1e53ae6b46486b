// sacctmgr's changes: what they mean for the policy, and what is said of them, as Slurm says it.

#include "cli/slurm/accounts/account_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/slurm/accounts/account_words.h"
#include "cli/slurm/accounts/cluster_dump.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

PolicyView Named(const std::string& kind, const std::string& name,
                 const std::vector<Assignment>& properties) {
  PolicyView object;
  object.kind = kind;
  object.name = name;
  object.properties = properties;
  return object;
}

std::vector<PolicyView> Tree() {
  std::vector<PolicyView> objects = {
      Named("account", "physics", {{"Description", "physics"}}),
      Named("account", "chem", {{"Parent", "physics"}, {"Description", "chem"}}),
      Named("association", "physics/ada",
            {{"Fairshare", "3"}, {"MaxJobs", "50"}, {"QOS", "night,normal"}}),
      Named("association", "chem/bob", {{"DefaultAccount", "YES"}}),
      Named("qos", "normal", {}),
      Named("qos", "night", {{"Priority", "5"}})};
  objects[4].implied = true;
  return objects;
}

// The plan of a command line as it was recorded.
ManagerPlan PlanFor(const std::string& line, const std::vector<PolicyView>& objects = Tree()) {
  std::vector<std::string> words = recorded::WordsOf(line);
  std::erase(words, "-i");
  ManagerVerb verb = ManagerVerb::kAdd;
  EXPECT_TRUE(ReadManagerVerb(words.front(), &verb)) << line;
  words.erase(words.begin());
  const absl::StatusOr<ManagerRequest> request = ReadManagerRequest(verb, words);
  ManagerPlan plan;
  if (!request.ok()) {
    plan.problem = std::string(request.status().message());
    return plan;
  }
  return PlanOf(*request, objects, "gold");
}

std::vector<std::string> StepsOf(const ManagerPlan& plan) {
  std::vector<std::string> steps;
  for (const PolicyStep& step : plan.steps) {
    const char* const verb = step.verb == PolicyVerb::kAdd   ? "add"
                             : step.verb == PolicyVerb::kSet ? "set"
                                                             : "delete";
    std::string text = std::string(verb) + " " + Name(step.kind) + " " + step.name;
    for (const Assignment& one : step.assignments) {
      text += " " + one.key + "=" + one.value;
    }
    steps.push_back(text);
  }
  return steps;
}
using Steps = std::vector<std::string>;

// Commands of which Muster says what Slurm said, over the same accounts.
TEST(ManagerPlan, SaysOfAChangeWhatSlurmSaid) {
  for (const char* const line : {
           "sacctmgr -i modify user nosuch set MaxJobs=3",
           "sacctmgr -i delete user nosuch",
           "sacctmgr -i modify user ada set nosuch=3",
       }) {
    const recorded::Answer theirs = recorded::Of("sacctmgr", line);
    EXPECT_EQ(PlanFor(line).problem + "\n", theirs.out + theirs.err) << line;
  }
  for (const char* const line : {
           "sacctmgr -i add account a4 cluster=nosuch",
           "sacctmgr -i add account",
           "sacctmgr -i add account a6 nosuch=1",
           "sacctmgr -i add user bob",
           "sacctmgr -i add user",
           "sacctmgr -i modify user bob set",
           "sacctmgr -i modify user bob",
           "sacctmgr -i modify account nosuch set MaxJobs=1",
           "sacctmgr -i add qos",
           "sacctmgr -i modify qos nosuch set Priority=1",
           "sacctmgr -i delete account nosuch",
           "sacctmgr -i delete qos nosuch",
           "sacctmgr -i delete account",
           "sacctmgr -i delete user",
           "sacctmgr -i delete qos",
       }) {
    const recorded::Answer theirs = recorded::Of("manager", line);
    EXPECT_EQ(theirs.code, 1) << line;
    EXPECT_EQ(PlanFor(line).problem + "\n", theirs.out + theirs.err) << line;
    EXPECT_TRUE(PlanFor(line).steps.empty()) << line;
  }
}

TEST(ManagerPlan, ListsWhatIsAddedAndChangedInSlurmsLines) {
  for (const auto& [file, line] : {
           std::pair{"sacctmgr",
                     "sacctmgr -i add qos urgent Priority=100 MaxTRESPerUser=cpu=8 "
                     "Flags=DenyOnLimit"},
           std::pair{"sacctmgr", "sacctmgr -i modify qos urgent set MaxWall=2:00:00"},
           std::pair{"sacctmgr", "sacctmgr -i delete qos urgent"},
           std::pair{"manager", "sacctmgr -i add user bob account=a1,a2 Fairshare=2 MaxJobs=4"},
           std::pair{"manager", "sacctmgr -i modify user bob account=a1 set Fairshare=8"},
           std::pair{"manager", "sacctmgr -i delete user bob where account=a2"},
           std::pair{"manager", "sacctmgr -i delete account a3"},
           std::pair{"manager", "sacctmgr -i modify account a1 set parent=root"},
       }) {
    std::vector<PolicyView> objects = Tree();
    objects.push_back(Named("account", "a1", {{"Parent", "physics"}}));
    objects.push_back(Named("account", "a2", {}));
    objects.push_back(Named("account", "a3", {}));
    const std::string text = line;
    const bool adds = text.find(" add ") != std::string::npos;
    if (!adds) {
      objects.push_back(Named("association", "a1/bob", {}));
      objects.push_back(Named("association", "a2/bob", {}));
      objects.push_back(Named("qos", "urgent", {}));
    }
    std::string theirs = recorded::Of(file, line).out;
    // A QOS has no description here.
    const std::string description = "  Description    = urgent\n";
    if (const std::size_t at = theirs.find(description); at != std::string::npos) {
      theirs.erase(at, description.size());
    }
    const auto sorted = [](const std::string& page) {
      std::vector<std::string> lines = {""};
      for (const char c : page) {
        c == '\n' ? lines.emplace_back() : lines.back() += c;
      }
      std::sort(lines.begin(), lines.end());
      return lines;
    };
    EXPECT_EQ(sorted(PlanFor(line, objects).text), sorted(theirs)) << line;
  }
}

TEST(ManagerPlan, AnAccountIsAddedBelowItsParent) {
  const ManagerPlan plan =
      PlanFor("sacctmgr add account maths parent=physics Fairshare=5 GrpCPUs=10");
  EXPECT_EQ(StepsOf(plan), Steps({"add account maths Parent=physics Fairshare=5 GrpTRES=cpu=10"}));
  EXPECT_EQ(PlanFor("sacctmgr add account x parent=nosuch").problem,
            " Parent account 'nosuch' doesn't exist on cluster gold\n"
            "        Contact your admin to add this account.");
  EXPECT_EQ(PlanFor("sacctmgr add account physics").problem, " Nothing new added.");
}

TEST(ManagerPlan, TheFirstAccountOfANewUserIsTheDefault) {
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr add user eve account=chem,physics MaxJobs=3")),
            Steps({"add association chem/eve MaxJobs=3 DefaultAccount=YES",
                   "add association physics/eve MaxJobs=3"}));
}

TEST(ManagerPlan, AUserNeverHasTwoDefaults) {
  std::vector<PolicyView> objects = Tree();
  objects.push_back(Named("association", "physics/bob", {}));
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify user bob set DefaultAccount=physics", objects)),
            Steps({"set association chem/bob DefaultAccount=NO",
                   "set association physics/bob DefaultAccount=YES"}));
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify user bob set DefaultAccount=chem")),
            Steps({"set association chem/bob DefaultAccount=YES"}));
  EXPECT_EQ(PlanFor("sacctmgr modify user bob set DefaultAccount=maths").problem,
            " User bob is not in account maths: add it there first");
}

TEST(ManagerPlan, AnImpliedQosIsAddedByItsFirstSetting) {
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify qos normal set MaxWall=2:00:00")),
            Steps({"add qos normal MaxWall=2:00:00"}));
}

TEST(ManagerPlan, AddingAQosToAListThatSaysNothingTakesNoneAway) {
  const ManagerPlan plan = PlanFor("sacctmgr modify user bob set qos+=night");
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_NE(plan.text.find("Modified user associations"), std::string::npos);
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify user bob set qos-=night")),
            Steps({"set association chem/bob QOS=normal"}));
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify user ada set qos+=urgent")),
            Steps({"set association physics/ada QOS=+urgent"}));
}

TEST(ManagerPlan, AnAccountGoesWithItsUsersAndAfterThoseBelowIt) {
  EXPECT_EQ(
      StepsOf(PlanFor(
          "sacctmgr delete account physics,chem",
          {Named("account", "physics", {}), Named("account", "chem", {{"Parent", "physics"}}),
           Named("association", "chem/bob", {})})),
      Steps({"delete association chem/bob", "delete account chem", "delete account physics"}));
  EXPECT_NE(PlanFor("sacctmgr delete account physics").problem.find("is below physics"),
            std::string::npos);
}

TEST(ManagerPlan, NoUserLosesTheDefaultAccountUnasked) {
  const ManagerPlan plan = PlanFor("sacctmgr delete account chem");
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.problem,
            " Error with request: You can not remove the default account of a user\n"
            "  C = gold            A = chem       U = bob      \n"
            " Please either remove the accounts listed above from list and resubmit,\n"
            " or change these users' default accounts to remove the account(s).");
}

TEST(ManagerWords, RefuseValuesThatNoSettingHas) {
  EXPECT_EQ(PlanFor("sacctmgr modify account chem set MaxJobs=garbage").problem,
            "sacctmgr: error: Invalid value for MaxJobs (garbage)");
  EXPECT_NE(PlanFor("sacctmgr modify user ada set AdminLevel=Admin").problem.find("configuration"),
            std::string::npos);
}

TEST(ManagerWords, ConditionsAndSettingsComeInAnyOrder) {
  EXPECT_EQ(StepsOf(PlanFor("sacctmgr modify user set MaxJobs=4 where name=ada account=physics")),
            Steps({"set association physics/ada MaxJobs=4"}));
  EXPECT_EQ(PlanFor("sacctmgr modify user where nosuch=1 set MaxJobs=4").problem,
            " Unknown condition: nosuch=1\n Use keyword 'set' to modify value");
}

TEST(ClusterDump, IsTheTreeAsSlurmWritesIt) {
  EXPECT_EQ(ClusterDump(Tree(), "gold"),
            "# The accounts of this cluster, as Slurm's dumps are written.\n"
            "Cluster - 'gold':Fairshare=1\n"
            "Parent - 'root'\n"
            "Account - 'physics':Description='physics':Fairshare=1\n"
            "Parent - 'physics'\n"
            "User - 'ada':DefaultAccount='(null)':Fairshare=3:MaxJobs=50:QOS='night,normal'\n"
            "Account - 'chem':Description='chem':Fairshare=1\n"
            "Parent - 'chem'\n"
            "User - 'bob':DefaultAccount='chem':Fairshare=1\n");
}

}  // namespace
}  // namespace muster::cli::slurm
