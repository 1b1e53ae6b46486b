#include "agent/attempts/place/attempt_key.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(AttemptKeyTest, ANameIsReadBackAsItWasWritten) {
  const AttemptKey key{JobId(18446744073709551615U), AttemptNumber(3)};
  EXPECT_EQ(ToString(key), "18446744073709551615.3");
  EXPECT_EQ(ParseAttemptKey(ToString(key)).value(), key);
}

TEST(AttemptKeyTest, AnythingElseIsRefused) {
  for (const char* name : {"", ".", "..", "1", "1.", ".1", "0.1", "1.0", "01.1", "1.1.1", "1.-1",
                           "1.1/..", " 1.1", "18446744073709551616.1", "a.b"}) {
    EXPECT_FALSE(ParseAttemptKey(name).ok()) << name;
  }
}

}  // namespace
}  // namespace muster::agent
