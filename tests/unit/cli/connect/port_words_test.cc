#include "cli/connect/port_words.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(PortWords, AreReadAndWritten) {
  EXPECT_EQ(*ParseForwardedPort("8888"), (ForwardedPort{8888, "127.0.0.1", 8888}));
  EXPECT_EQ(*ParseForwardedPort("0:8888"), (ForwardedPort{0, "127.0.0.1", 8888}));
  EXPECT_EQ(*ParseForwardedPort("9000:db:5432"), (ForwardedPort{9000, "db", 5432}));
  const ForwardedPort six{9000, "::1", 80};
  EXPECT_EQ(*ParseForwardedPort("9000:[::1]:80"), six);
  EXPECT_EQ(EndOf(six), "[::1]:80");
  EXPECT_EQ(EndOf({0, "db", 80}), "db:80");
}

TEST(PortWords, OtherTextIsRefused) {
  for (const char* text : {"", "x", "0", "65536", ":80", "80:", "1::2", "1:2:3:4", "1:a:b", "-1",
                           "1:[]:2", "1:[::1:2", "70000:80"}) {
    EXPECT_FALSE(ParseForwardedPort(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::cli
