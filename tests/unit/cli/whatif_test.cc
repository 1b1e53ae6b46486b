// muster whatif on clusters, as a user sees it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Whatif : public ::testing::Test {
 protected:
  Whatif() {
    std::ofstream trace(trace_);
    trace << "; MaxProcs: 4\n";
    // A job of 4 processors an hour for 20 days, one after the other waiting; two users, two
    // groups.
    for (int i = 0; i < 480; ++i) {
      trace << i + 1 << " " << i * 3600 << " -1 4000 4 -1 -1 4 5000 -1 1 " << i % 2 << " "
            << 7 + i % 2 << " 1 1 1 -1 -1\n";
    }
    std::ofstream(site_) << "[nodes.big]\ncount = 2\ncpus = 2\n"
                            "[policy]\nbackfill = \"easy\"\nreservations = 5\n"
                            "[partition.main]\ndefault = true\nmax_nodes = 4\n";
  }

  nlohmann::json Document(std::vector<std::string> options) {
    options.insert(options.begin(), {"whatif", "--json", "--trace", trace_});
    const ProgramEnd end = RunMuster(options);
    EXPECT_EQ(end.code, 0) << end.err;
    return end.code == 0 ? nlohmann::json::parse(end.out) : nlohmann::json();
  }

  std::string Refusal(const std::string& change) {
    const ProgramEnd end =
        RunMuster({"whatif", "--trace", trace_, "--base", site_, "--change", change});
    EXPECT_EQ(end.code, 2) << change;
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
    return end.err;
  }

  TempDirectory directory_;
  const std::string trace_ = directory_ / "log.swf";
  const std::string site_ = directory_ / "site.toml";
};

TEST_F(Whatif, AClusterFileIsChangedByItsKeys) {
  const nlohmann::json document = Document({"--base", site_, "--change", "nodes.big.count+=2",
                                            "--change", "nodes*=2,policy=fcfs", "--change",
                                            "policy.reservations=7,partition.main.max_nodes=2"});
  ASSERT_EQ(document["variants"].size(), 4U);
  EXPECT_EQ(document["variants"][0]["processors"], 4);
  EXPECT_EQ(document["variants"][1]["processors"], 8);
  EXPECT_EQ(document["variants"][2]["processors"], 8);
  EXPECT_EQ(document["variants"][1]["overall"]["verdict"], "gains");
  EXPECT_EQ(document["variants"][1]["metrics"]["mean_waiting_time"], 0);
  EXPECT_EQ(document["variants"][3]["overall"]["waiting_time_difference"]["mean"], 0);
  EXPECT_TRUE(document["variants"][0]["metrics"].contains("preemptions"));
}

TEST_F(Whatif, AccountsAndUsersAreToldApart) {
  const nlohmann::json document = Document({"--base", site_, "--change", "cpus_per_node+=2"});
  const nlohmann::json& variant = document["variants"][1];
  ASSERT_EQ(variant["by_account"].size(), 2U);
  EXPECT_EQ(variant["by_account"][0]["account"], "7");
  EXPECT_EQ(variant["by_account"][1]["jobs"], 240);
  EXPECT_EQ(variant["by_user"][1]["user"], "1");
  EXPECT_EQ(variant["by_user"][1]["verdict"], "gains");
  const ProgramEnd page = RunMuster({"whatif", "--trace", trace_, "--change", "processors=8"});
  EXPECT_THAT(page.out, HasSubstr("accounts: 2 gain, 0 lose, 0 unclear; users: 2 gain"));
  EXPECT_THAT(page.out, HasSubstr("ACCOUNT"));
}

TEST_F(Whatif, NodesThatAreAlikeNeedNoFile) {
  const nlohmann::json document =
      Document({"--nodes", "2", "--cpus-per-node", "2", "--gpus-per-node", "1", "--gpu-model",
                "a\"b", "--change", "nodes+=2,gpus_per_node=2"});
  EXPECT_EQ(document["variants"][0]["processors"], 4);
  EXPECT_EQ(document["variants"][1]["processors"], 8);
  EXPECT_EQ(document["variants"][0]["metrics"]["gpu_utilisation"], 0);
  const ProgramEnd both = RunMuster(
      {"whatif", "--trace", trace_, "--base", site_, "--nodes", "2", "--change", "nodes=1"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("--nodes: the file of --base says it"));
}

TEST_F(Whatif, AChangeThatCannotBeIsOneLineAndNothingRuns) {
  EXPECT_THAT(Refusal("priority.weights.age=5"),
              HasSubstr("\"priority.weights.age\" is not a setting of the cluster; near it are "
                        "priority.weight_age, "));
  EXPECT_THAT(Refusal("nodes.big.cuont+=5"), HasSubstr("near it are nodes.big.count, "));
  EXPECT_THAT(Refusal("nodse=5"), HasSubstr("near it are nodes, "));
  EXPECT_THAT(Refusal("nodes.big.count-=2"), HasSubstr("gives none"));
  EXPECT_THAT(Refusal("nodes.big.count=0"), HasSubstr("nodes.big.count: 0 is outside 1 to"));
  EXPECT_THAT(Refusal("policy.backfill=best"),
              HasSubstr("is no kind of backfilling: use one of none, easy, conservative, hybrid"));
  EXPECT_THAT(Refusal("policy=sjf"), HasSubstr("\"sjf\" is not a policy of a cluster"));
  EXPECT_THAT(Refusal("estimates=user-last-2"), HasSubstr("is for identical processors"));
  EXPECT_THAT(Refusal("partition.main.max_node=2"), HasSubstr("no such key of "));
  EXPECT_THAT(Refusal("nodes.big.weight+=2"), HasSubstr("write KEY=VALUE"));
  EXPECT_THAT(Refusal("nodes.big=3"), HasSubstr("is a table"));
  std::ofstream(site_, std::ios::app) << "[nodes.small]\ncpus = 1\n";
  EXPECT_THAT(Refusal("nodes+=1"),
              HasSubstr("of several classes: name one of nodes.big.count, nodes.small.count"));
}

TEST_F(Whatif, CalibrationSaysHowStartEstimatesWouldHaveHeld) {
  const nlohmann::json document = Document({"--calibrate"});
  const nlohmann::json& calibration = document["calibration"];
  EXPECT_EQ(document["variants"].size(), 1U);
  EXPECT_EQ(calibration["waited"], 479) << "all but the first";
  EXPECT_EQ(calibration["forecast"], 300);
  EXPECT_EQ(calibration["limits"]["held_share"], 1) << "nobody runs beyond the limit";
  EXPECT_GT(calibration["limits"]["mean_error"], calibration["p90"]["mean_error"])
      << "every job runs 4000 of its 5000 s, and the past says so";
  const ProgramEnd text =
      RunMuster({"whatif", "--trace", trace_, "--calibrate", "--change", "policy=fcfs"});
  EXPECT_THAT(text.out, HasSubstr("300 of the 479 jobs that waited, 100 futures each"));
  EXPECT_THAT(text.out, HasSubstr("policy=fcfs: mean wait"));
  const ProgramEnd cluster =
      RunMuster({"whatif", "--trace", trace_, "--base", site_, "--calibrate"});
  EXPECT_EQ(cluster.code, 2);
  EXPECT_THAT(cluster.err, HasSubstr("--calibrate: is for identical processors"));
}

TEST_F(Whatif, ThePageIsWrittenWholeAndIsTheSameForTheSameSeed) {
  const std::string html = directory_ / "page.html";
  const auto page = [&] {
    const ProgramEnd end = RunMuster(
        {"whatif", "--trace", trace_, "--base", site_, "--change", "nodes+=1", "--html", html});
    EXPECT_EQ(end.code, 0) << end.err;
    return ReadFile(html).value();
  };
  const std::string first = page();
  EXPECT_THAT(first, HasSubstr("\"name\":\"nodes+=1\""));
  EXPECT_THAT(first, HasSubstr("</html>"));
  EXPECT_EQ(first, page());
  const ProgramEnd nowhere = RunMuster({"whatif", "--trace", trace_, "--base", site_, "--change",
                                        "nodes+=1", "--html", "/no/such/page.html"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.out, Not(HasSubstr("METRIC")));
}

}  // namespace
}  // namespace muster::cli
