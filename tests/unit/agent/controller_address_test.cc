#include "agent/controller_address.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

const TlsFiles kNoTls;
const TlsFiles kTls{.certificate = "a", .key = "b", .authority = "c"};

TEST(ControllerAddressTest, UnixSocketsAndTheLoopbackNeedNoKeys) {
  for (const char* address : {"unix:/run/muster/controller.sock", "127.0.0.1:7000",
                              "127.3.2.1:7000", "localhost:7000", "[::1]:7000"}) {
    EXPECT_TRUE(CheckControllerAddress(address, kNoTls).ok()) << address;
  }
}

TEST(ControllerAddressTest, OtherHostsNeedThem) {
  for (const char* address : {"10.0.0.1:7000", "head:7000", "[2001:db8::1]:7000", "0.0.0.0:7000",
                              "127.example.org:7000"}) {
    EXPECT_FALSE(CheckControllerAddress(address, kNoTls).ok()) << address;
    EXPECT_TRUE(CheckControllerAddress(address, kTls).ok()) << address;
  }
  EXPECT_FALSE(
      CheckControllerAddress("head:7000", {.certificate = "a", .key = "", .authority = ""}).ok());
}

TEST(ControllerAddressTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "head", ":7000", "head:", "head:0", "head:65536", "unix:"}) {
    EXPECT_FALSE(CheckControllerAddress(address, kTls).ok()) << address;
  }
}

TEST(ControllerAddressTest, APathTooLongForASocketSaysSo) {
  EXPECT_TRUE(CheckControllerAddress("unix:" + std::string(107, 'x'), kNoTls).ok());
  const absl::Status status = CheckControllerAddress("unix:" + std::string(108, 'x'), kNoTls);
  EXPECT_NE(status.message().find("at most 107"), std::string::npos) << status;
}

}  // namespace
}  // namespace muster
