#include "agent/kernels/place/openmp_environment.h"

#include <gtest/gtest.h>

namespace muster::kernels {
namespace {

TEST(IsThreadListTest, AcceptsTeamSizes) {
  for (const char* text : {"1", "64", "4096", "2,8", " 3 ", "4 , 2"}) {
    EXPECT_TRUE(IsThreadList(text)) << text;
  }
}

TEST(IsThreadListTest, RefusesWhatOpenMpWouldIgnore) {
  for (const char* text : {"", " ", "0", "-1", "+1", "two", "4x", "2,", ",2", "2,0", "1.5", "4097",
                           "99999999999999999999"}) {
    EXPECT_FALSE(IsThreadList(text)) << text;
  }
}

}  // namespace
}  // namespace muster::kernels
