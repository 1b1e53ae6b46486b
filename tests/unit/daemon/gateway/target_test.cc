#include "daemon/gateway/http/target.h"

#include <gtest/gtest.h>

namespace muster::daemon::http {
namespace {

TEST(TargetTest, PathAndQueryAreDecodedOnce) {
  Request request;
  ASSERT_TRUE(ReadTarget("/v1/jobs/7%2F8?user=ada+l&x=%2525&y&z=a=b", request).ok());
  EXPECT_EQ(request.path, "/v1/jobs/7/8");
  EXPECT_EQ(request.query, (Pairs{{"user", "ada l"}, {"x", "%25"}, {"y", ""}, {"z", "a=b"}}));
}

TEST(TargetTest, WhatIsNotUtf8OrHasControlsIsRefused) {
  for (const char* target :
       {"", "v1", "*", "http://x/", "/%", "/%4", "/%zz", "/%00", "/%0a", "/%7f", "/%c3", "/%c0%af",
        "/%ed%a0%80", "/%f4%90%80%80", "/%c2%85", "/?a=%ff", "/?=b", "/\xff", "/a\nb"}) {
    Request request;
    EXPECT_FALSE(ReadTarget(target, request).ok()) << target;
  }
  Request request;
  EXPECT_TRUE(ReadTarget("/%c3%a4%e2%82%ac%f0%9f%99%82", request).ok());
  EXPECT_FALSE(ReadTarget("/" + std::string(kTargetBytesMax, 'a'), request).ok());
}

TEST(TargetTest, AQueryHasABoundedNumberOfValues) {
  std::string target = "/?";
  for (int i = 0; i < 64; ++i) {
    target += "a=1&";
  }
  Request request;
  EXPECT_TRUE(ReadTarget(target, request).ok());
  Request more;
  EXPECT_FALSE(ReadTarget(target + "b=1", more).ok());
}

TEST(TargetTest, ABearerIsOneWordOfTheLettersThatTokensHave) {
  EXPECT_EQ(ReadBearer("Bearer a.b-c_9"), "a.b-c_9");
  EXPECT_EQ(ReadBearer("bearer x"), "x");
  for (const char* text : {"", "Bearer", "Bearer ", "Basic eDp5", "Bearer a b", "Bearer a\tb",
                           "Bearer a;b", "Bearer  a", "xBearer a"}) {
    EXPECT_EQ(ReadBearer(text), "") << text;
  }
}

}  // namespace
}  // namespace muster::daemon::http
