#include "daemon/gateway/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<GatewayConfig> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "muster-gateway");
  return ParseGatewayConfig(static_cast<int>(arguments.size()), arguments.data());
}

TEST(GatewayConfigTest, WithoutTlsItListensOnThisMachineAlone) {
  EXPECT_TRUE(Parse({"--controller", "unix:/c", "--listen", "127.0.0.1:0"}).ok());
  EXPECT_TRUE(Parse({"--controller", "unix:/c", "--listen", "[::1]:80"}).ok());
  for (const char* address : {"0.0.0.0:80", "[::]:80", "192.0.2.1:80", "host:80", "80", ""}) {
    const auto config = Parse({"--controller", "unix:/c", "--listen", address});
    EXPECT_TRUE(absl::IsInvalidArgument(config.status())) << address;
  }
  EXPECT_TRUE(Parse({"--controller", "unix:/c", "--listen", "0.0.0.0:80", "--tls-cert", "a",
                     "--tls-key", "b"})
                  .ok());
}

TEST(GatewayConfigTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(Parse({}).status().message(), HasSubstr("--controller"));
  EXPECT_THAT(Parse({"--controller", "unix:/c", "--tls-cert", "a"}).status().message(),
              HasSubstr("--tls-key"));
  EXPECT_THAT(Parse({"--nothing"}).status().message(), HasSubstr("--help"));
}

TEST(GatewayConfigTest, AFileSaysTheSameAndTheCommandLineGoesBefore) {
  const TempDirectory directory;
  const std::string path = directory / "gateway.toml";
  ASSERT_TRUE(WriteFileAtomically(path, R"(
listen = ["127.0.0.1:1"]
controller = "unix:/file"
links = "/links"
[limits]
connections = 7
body = "1M"
header_time = "3s"
)")
                  .ok());
  const GatewayConfig config =
      Parse({"--config", path.c_str(), "--controller", "unix:/said"}).value();
  EXPECT_THAT(config.listen, ElementsAre("127.0.0.1:1"));
  EXPECT_EQ(config.controller, "unix:/said");
  EXPECT_EQ(config.links, "/links");
  EXPECT_EQ(config.limits.sources.connections, 7U);
  EXPECT_EQ(config.limits.body_bytes, 1U << 20);
  EXPECT_EQ(config.limits.header_time, std::chrono::seconds(3));
  ASSERT_TRUE(WriteFileAtomically(path, "controller = [\"a:7117\", \"b:7117\"]\n").ok());
  EXPECT_EQ(Parse({"--config", path.c_str()})->controller, "a:7117,b:7117");
  ASSERT_TRUE(WriteFileAtomically(path, "[limits]\nconections = 7\n").ok());
  EXPECT_THAT(Parse({"--config", path.c_str()}).status().message(),
              HasSubstr("gateway.toml:2: limits.conections"));
  ASSERT_TRUE(WriteFileAtomically(path, "[limits]\nheader_time = \"0s\"\n").ok());
  EXPECT_THAT(Parse({"--config", path.c_str()}).status().message(), HasSubstr(":2: "));
}

}  // namespace
}  // namespace muster::daemon
