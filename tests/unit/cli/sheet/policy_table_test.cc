#include "cli/sheet/policy_table.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

PolicyView View(const std::string& kind, const std::string& name,
                std::vector<Assignment> properties = {}) {
  PolicyView view;
  view.kind = kind;
  view.name = name;
  view.properties = std::move(properties);
  return view;
}

TEST(PolicyTable, APartitionSaysItsStateNodesJobsAndRules) {
  PolicyView debug = View("partition", "debug", {{"Default", "YES"}, {"MaxTime", "1:00:00"}});
  debug.state = "UP";
  debug.nodes = 2;
  debug.jobs_running = 1;
  debug.jobs_submitted = 3;
  debug.held = "cpu=4";
  EXPECT_EQ(PrintPolicy({debug}, true, Style()),
            "NAME    STATE  NODES  JOBS  HELD   RULES\n"
            "debug*  UP         2   1/3  cpu=4  MaxTime=1:00:00\n");
}

TEST(PolicyTable, AccountsAreATreeWithTheirUsers) {
  const std::vector<PolicyView> objects = {
      View("account", "physics", {{"Fairshare", "10"}}),
      View("account", "theory", {{"Parent", "physics"}, {"GrpJobs", "4"}}),
      View("association", "physics/ada", {{"MaxJobs", "2"}}),
  };
  EXPECT_EQ(PrintAccounts(objects, false, Style()),
            "physics         10  0/0  -  -\n"
            "  physics  ada   1  0/0  -  MaxJobs=2\n"
            "  theory         1  0/0  -  GrpJobs=4\n");
}

TEST(PolicyTable, TheHistorySaysWhoDidWhatWhen) {
  PolicyChangeView change;
  change.time = Time(std::chrono::hours(24));
  change.user = "root";
  change.kind = "qos";
  change.name = "high";
  change.text = "Priority=5 (was 3)";
  EXPECT_EQ(PrintPolicyHistory({change}, false, Style()),
            "1970-01-02 00:00:00  root  qos  high  Priority=5 (was 3)\n");
}

}  // namespace
}  // namespace muster::cli
