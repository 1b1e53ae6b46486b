#include "agent/link/controller_address.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

const AgentTlsFiles kNoTls;
const AgentTlsFiles kTls{.certificate = "a", .key = "b", .authority = "c"};

TEST(ControllerAddressTest, EveryHostNeedsKeysAndThisMachineToo) {
  for (const char* address :
       {"10.0.0.1:7000", "head:7000", "[2001:db8::1]:7000", "0.0.0.0:7000", "127.example.org:7000",
        "127.0.0.1:7000", "127.3.2.1:7000", "localhost:7000", "[::1]:7000"}) {
    const absl::Status refused = CheckControllerAddress(address, kNoTls, "n1");
    EXPECT_NE(refused.message().find("muster keys agent"), std::string::npos) << address << refused;
    EXPECT_TRUE(CheckControllerAddress(address, kTls, "n1").ok()) << address;
  }
  EXPECT_FALSE(
      CheckControllerAddress("head:7000", {.certificate = "a", .key = "", .authority = ""}, "n1")
          .ok());
}

TEST(ControllerAddressTest, AUnixSocketTakesNone) {
  const std::string address = "unix:/run/muster/controller.sock";
  EXPECT_TRUE(CheckControllerAddress(address, kNoTls, "n1").ok());
  EXPECT_NE(CheckControllerAddress(address, kTls, "n1").message().find("HOST:PORT"),
            std::string::npos);
}

TEST(ControllerAddressTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "head", ":7000", "head:", "head:0", "head:65536", "unix:"}) {
    EXPECT_FALSE(CheckControllerAddress(address, kTls, "n1").ok()) << address;
  }
}

TEST(ControllerAddressTest, APathTooLongForASocketSaysSo) {
  EXPECT_TRUE(CheckControllerAddress("unix:" + std::string(107, 'x'), kNoTls, "n1").ok());
  const absl::Status status = CheckControllerAddress("unix:" + std::string(108, 'x'), kNoTls, "n1");
  EXPECT_NE(status.message().find("at most 107"), std::string::npos) << status;
}

}  // namespace
}  // namespace muster::agent
