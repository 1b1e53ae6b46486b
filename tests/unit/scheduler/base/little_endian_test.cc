#include "scheduler/base/little_endian.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>

namespace muster {
namespace {

TEST(LittleEndian, TheLowestByteIsFirst) {
  std::string bytes = "x";
  PutNumber(0x01020304, bytes);
  EXPECT_EQ(bytes, "x\x04\x03\x02\x01");
  EXPECT_EQ(NumberAt(bytes, 1), 0x01020304U);
}

RC_GTEST_PROP(LittleEndian, NumbersReadBack, (std::uint32_t number)) {
  std::string bytes;
  PutNumber(number, bytes);
  RC_ASSERT(bytes.size() == kNumberBytes);
  RC_ASSERT(NumberAt(bytes, 0) == number);
}

}  // namespace
}  // namespace muster
