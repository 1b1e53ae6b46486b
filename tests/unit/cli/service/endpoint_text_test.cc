#include "cli/service/endpoint_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

ServiceReplica ReplicaAt(const std::string& host, std::uint16_t port, const char* state) {
  ServiceReplica replica;
  replica.label = "12_0";
  replica.note = {.state = state, .host = host, .ports = {{"http", port}, {"metrics", 9}}};
  return replica;
}

class EndpointTextTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Text(EndpointFormat format, const std::string& port = "") const {
    return *EndpointText("web", replicas_, port, format);
  }
  std::vector<ServiceReplica> replicas_ = {
      ReplicaAt("10.0.0.2", 80, kReplicaReady),    ReplicaAt("10.0.0.1", 81, kReplicaReady),
      ReplicaAt("10.0.0.3", 82, kReplicaStarting), ReplicaAt("10.0.0.4", 83, kReplicaLeaving),
      ReplicaAt("10.0.0.5", 84, kReplicaFailing),  ServiceReplica()};
};

TEST_F(EndpointTextTest, OnlyThoseThatAreReadyStandInIt) {
  EXPECT_EQ(Text(EndpointFormat::kLines), "10.0.0.1:81\n10.0.0.2:80\n");
  EXPECT_EQ(Text(EndpointFormat::kNginx),
            "upstream web {\n  server 10.0.0.1:81;\n  server 10.0.0.2:80;\n}\n");
  EXPECT_EQ(Text(EndpointFormat::kCaddy), "to 10.0.0.1:81 10.0.0.2:80\n");
  EXPECT_THAT(Text(EndpointFormat::kJson), HasSubstr("\"host\": \"10.0.0.1\""));
}

TEST_F(EndpointTextTest, OneOutOfReachIsLeftOut) {
  for (ServiceReplica& replica : replicas_) {
    replica.lost = replica.note.host == "10.0.0.1";
  }
  EXPECT_EQ(Text(EndpointFormat::kLines), "10.0.0.2:80\n");
}

TEST_F(EndpointTextTest, AnotherPortIsNamed) {
  EXPECT_EQ(Text(EndpointFormat::kLines, "metrics"), "10.0.0.1:9\n10.0.0.2:9\n");
  const auto none = EndpointText("web", replicas_, "grpc", EndpointFormat::kLines);
  EXPECT_EQ(none.status().message(), "service web has no port \"grpc\"; it has http, metrics");
}

TEST_F(EndpointTextTest, WithoutAReplicaTheTextIsStillOneThatIsTaken) {
  replicas_.clear();
  EXPECT_EQ(Text(EndpointFormat::kNginx),
            "upstream web {\n  server 127.0.0.1:1 down;  # no replica is ready\n}\n");
  EXPECT_EQ(Text(EndpointFormat::kCaddy), "# no replica is ready\n");
  EXPECT_EQ(Text(EndpointFormat::kLines), "");
}

TEST_F(EndpointTextTest, AnIpv6AddressStandsInBrackets) {
  replicas_ = {ReplicaAt("fe80::1", 80, kReplicaReady)};
  EXPECT_EQ(Text(EndpointFormat::kLines), "[fe80::1]:80\n");
}

TEST_F(EndpointTextTest, AFormatIsOneOfFour) {
  EXPECT_EQ(*ParseEndpointFormat("caddy"), EndpointFormat::kCaddy);
  EXPECT_EQ(ParseEndpointFormat("haproxy").status().message(),
            "--format: \"haproxy\" is none of lines, nginx, caddy and json");
}

}  // namespace
}  // namespace muster::cli
