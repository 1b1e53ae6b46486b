#include "scheduler/model/value/host_list.h"

#include <gtest/gtest.h>

#include <utility>

namespace muster {
namespace {

std::vector<std::string> Names(const std::string& text) {
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(text);
  EXPECT_TRUE(names.ok()) << text;
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

TEST(HostList, ExpandsRangesWithTheirZerosAndKeepsTheirOrder) {
  EXPECT_EQ(Names("n[8-10],a,r[01-02]n[3,1]"),
            (std::vector<std::string>{"n8", "n9", "n10", "a", "r01n3", "r01n1", "r02n3", "r02n1"}));
}

TEST(HostList, ANameThatIsWrittenTwiceIsThereTwice) {
  EXPECT_EQ(Names("n1,n[1-2]"), (std::vector<std::string>{"n1", "n1", "n2"}));
}

TEST(HostList, TellsTooManyFromNoList) {
  EXPECT_TRUE(absl::IsResourceExhausted(ExpandHostlist("n[1-70000]").status()));
  EXPECT_TRUE(absl::IsResourceExhausted(ExpandHostlist("n[1-40000],m[1-40000]").status()));
  EXPECT_EQ(Names("n[1-65536]").size(), kHostsMax);
  for (const char* bad : {"", ",", "n1,", "n[", "n[]", "n[2-1]", "n[a]", "n[1-]", "n 1", "n[+1]",
                          "n[99999999999999999999]"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ExpandHostlist(bad).status())) << bad;
  }
}

}  // namespace
}  // namespace muster
