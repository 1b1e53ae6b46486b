// sacctmgr's rows against those of Slurm itself, over the same accounts.

#include "cli/slurm/accounts/policy_rows.h"

#include <gtest/gtest.h>

#include "cli/slurm/accounts/named_columns.h"
#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

PolicyView Object(const std::string& kind, const std::string& name,
                  const std::vector<Assignment>& properties) {
  PolicyView object;
  object.kind = kind;
  object.name = name;
  object.properties = properties;
  return object;
}

std::vector<PolicyView> Recorded() {
  return {Object("account", "physics", {{"Description", "physics"}}),
          Object("account", "chem", {{"Parent", "physics"}, {"Description", "chem"}}),
          Object("association", "physics/ada",
                 {{"Fairshare", "3"}, {"MaxJobs", "50"}, {"QOS", "night,normal"}}),
          Object("association", "chem/bob", {}),
          Object("qos", "normal", {}),
          Object("qos", "night", {{"Priority", "5"}})};
}

std::string PageOf(ShownKind kind, const std::string& format, bool wide,
                   const std::vector<ShownCondition>& conditions, const PageStyle& style) {
  const ShownColumns columns = ColumnsOf(kind);
  const auto choice =
      ChooseColumns(columns.all, format, wide ? columns.with_associations : columns.usual);
  return choice.ok() ? NamedPage(columns.all, *choice,
                                 Fulfilling(RowsOfKind(kind, Recorded(), "gold", wide), columns.all,
                                            conditions),
                                 style)
                     : std::string(choice.status().message());
}

const PageStyle kBare = {.header = false, .parsable = true};

TEST(PolicyRows, AUsersAccountsAndQosAreWhatPortalsAskFor) {
  EXPECT_EQ(PageOf(ShownKind::kUser, "account,qos", true,
                   {{"User", {"ada"}}, {"Cluster", {"gold"}}}, kBare),
            recorded::Of(
                "sacctmgr",
                "sacctmgr -nP show users withassoc format=account,qos where user=ada cluster=gold")
                .out);
  EXPECT_EQ(PageOf(ShownKind::kUser, "", true, {{"User", {"nosuch"}}}, kBare), "");
}

TEST(PolicyRows, AnAssociationHasSlurmsColumns) {
  const std::string theirs = recorded::Of("sacctmgr", "sacctmgr -p show assoc where users=ada").out;
  const std::string ours = PageOf(ShownKind::kAssociation, "", false, {{"User", {"ada"}}},
                                  {.parsable = true, .ends_with_delimiter = true});
  EXPECT_EQ(ours, theirs);
}

TEST(PolicyRows, ColumnsAreFoundByTheirBeginning) {
  EXPECT_EQ(PageOf(ShownKind::kAssociation, "User,Account,GrpCPU,GrpMem,GrpJobs,GrpSubmit", false,
                   {{"User", {"ada"}}}, kBare),
            "ada|physics||||\n");
  EXPECT_EQ(PageOf(ShownKind::kUser, "account%256", true, {{"User", {"ada"}}}, {.header = false}),
            std::string(249, ' ') + "physics \n");
  EXPECT_EQ(PageOf(ShownKind::kUser, "nosuch", false, {}, kBare), "nosuch");
}

TEST(PolicyRows, AQosHasSlurmsColumns) {
  const std::string theirs = recorded::Of("sacctmgr", "sacctmgr -P show qos").out;
  const std::string ours = PageOf(ShownKind::kQos, "", false, {}, {.parsable = true});
  EXPECT_EQ(ours.substr(0, ours.find('\n')), theirs.substr(0, theirs.find('\n')));
  EXPECT_EQ(PageOf(ShownKind::kQos, "name,priority", false, {}, kBare), "normal|0\nnight|5\n");
}

TEST(PolicyRows, NoDescriptionBreaksAColumn) {
  std::vector<PolicyView> objects = {Object("account", "a", {{"Description", "x|y\n"}})};
  const ShownColumns columns = ColumnsOf(ShownKind::kAccount);
  EXPECT_EQ(NamedPage(columns.all, ChooseColumns(columns.all, "account,descr", "").value(),
                      RowsOfKind(ShownKind::kAccount, objects, "gold", false), kBare),
            "a|x\\x7cy\\x0a\n");
}

}  // namespace
}  // namespace muster::cli::slurm
