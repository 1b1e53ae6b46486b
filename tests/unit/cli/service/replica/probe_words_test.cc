#include "cli/service/replica/probe_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ProbeWordsTest, AProbeIsAPathOrAPortAndAnInterval) {
  EXPECT_EQ(*ParseProbe("http:/health,30s"),
            (ServiceProbe{ProbeKind::kHttp, "/health", std::chrono::seconds(30)}));
  EXPECT_EQ(*ParseProbe("http:/a?b=1"),
            (ServiceProbe{ProbeKind::kHttp, "/a?b=1", std::chrono::seconds(10)}));
  EXPECT_EQ(*ParseProbe("tcp,500ms"),
            (ServiceProbe{ProbeKind::kTcp, "", std::chrono::milliseconds(500)}));
  EXPECT_EQ(*ParseProbe("tcp"), ServiceProbe());
}

TEST(ProbeWordsTest, WhatIsNoProbeIsRefusedInALine) {
  for (const char* text : {"", "http", "http:", "http:health", "udp", "http:/a b", "tcp,", "tcp,0s",
                           "http:/health,often", "http:/a\r\nX: y"}) {
    const auto probe = ParseProbe(text);
    ASSERT_FALSE(probe.ok()) << text;
    EXPECT_THAT(std::string(probe.status().message()), HasSubstr("--probe: "));
    EXPECT_EQ(probe.status().message().find('\n'), std::string::npos);
  }
}

TEST(ProbeWordsTest, PortsHaveNamesThatMakeVariables) {
  EXPECT_THAT(*ParsePortNames("http,side-car"), ElementsAre("http", "side-car"));
  EXPECT_EQ(PortVariable("side-car"), "MUSTER_PORT_SIDE_CAR");
  for (const char* text : {"", "http,", "8080", "a.b", "a b", "http,HTTP", "a-b,a_b"}) {
    EXPECT_FALSE(ParsePortNames(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::cli
