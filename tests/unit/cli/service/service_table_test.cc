#include "cli/service/service_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::cli {
namespace {

std::vector<ServiceReplica> TwoServices() {
  ServiceReplica web;
  web.service = "web";
  web.label = "12_0";
  web.id = JobId(12);
  web.job_state = "RUNNING";
  web.nodes = {"n1"};
  web.note = {kReplicaReady, 0, 2, "10.0.0.1", {{"http", 4001}}};
  ServiceReplica second = web;
  second.label = "12_1";
  second.job_state = "PENDING";
  second.reason = "waits for 2 cores";
  second.nodes = {};
  second.note = {};
  ServiceReplica api = web;
  api.service = "api";
  api.label = "14_0";
  return {web, second, api};
}

TEST(ServiceTableTest, AServiceIsALine) {
  EXPECT_EQ(PrintServices(TwoServices(), Style()),
            "SERVICE  REPLICAS  READY  JOBS\n"
            "api             1      1  14_0\n"
            "web             2      1  12_0 12_1\n");
}

TEST(ServiceTableTest, AReplicaIsWhatItSaysOrWhatItsJobIs) {
  const std::vector<ServiceReplica> all = TwoServices();
  EXPECT_EQ(PrintReplicas({all[0], all[1]}, Style()),
            "JOB   STATE    NODE  HOST      PORTS      STARTS  REASON\n"
            "12_0  ready    n1    10.0.0.1  http=4001       2\n"
            "12_1  PENDING                                  0  waits for 2 cores\n");
}

TEST(ServiceTableTest, ARuleHasAColumnWhereThereIsOne) {
  std::vector<ServiceReplica> all = TwoServices();
  const ScaleRule rule{.least = 1, .most = 8, .metric = "inflight", .target = 10};
  all[0].terms = ServiceTerms{.change = 1, .replicas = 2, .rule = rule};
  EXPECT_EQ(PrintServices(all, Style()),
            "SERVICE  REPLICAS  READY  SCALED              JOBS\n"
            "api             1      1                      14_0\n"
            "web             2      1  1-8 by inflight/10  12_0 12_1\n");
  const auto document = nlohmann::json::parse(ServicesDocument(all));
  EXPECT_EQ(document["services"][1]["asked"], 2);
  EXPECT_EQ(document["services"][1]["scaled"]["max"], 8);
  EXPECT_EQ(document["services"][1]["scaled"]["settle"], 300);
  EXPECT_TRUE(document["services"][0]["scaled"].is_null());
}

TEST(ServiceTableTest, WhoIsOutOfReachIsLost) {
  std::vector<ServiceReplica> all = TwoServices();
  all[0].lost = true;
  EXPECT_EQ(PrintReplicas({all[0]}, Style()),
            "JOB   STATE  NODE  HOST      PORTS      STARTS  REASON\n"
            "12_0  lost   n1    10.0.0.1  http=4001       2\n");
  EXPECT_EQ(nlohmann::json::parse(ServicesDocument({all[0]}))["services"][0]["ready"], 0);
}

TEST(ServiceTableTest, TheDocumentHasStableNames) {
  const auto document = nlohmann::json::parse(ServicesDocument(TwoServices()));
  const auto& web = document["services"][1];
  EXPECT_EQ(web["name"], "web");
  EXPECT_EQ(web["replicas"], 2);
  EXPECT_EQ(web["ready"], 1);
  EXPECT_EQ(web["jobs"][0]["ports"]["http"], 4001);
  EXPECT_EQ(web["jobs"][1]["state"], "PENDING");
  EXPECT_TRUE(web["jobs"][1]["host"].is_null());
}

}  // namespace
}  // namespace muster::cli
