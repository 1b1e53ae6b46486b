#include "scheduler/model/machine/xid_error.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(XidError, AProgramsOwnErrorIsNotTheGpus) {
  for (const std::uint64_t own : {13, 31, 43, 45, 63, 94}) {
    EXPECT_FALSE(XidBreaksGpu(own)) << own;
  }
  for (const std::uint64_t broken : {48, 64, 74, 79, 95, 119, 120, 140}) {
    EXPECT_TRUE(XidBreaksGpu(broken)) << broken;
  }
}

TEST(XidError, ItIsNamedAsNvidiaDoes) {
  EXPECT_EQ(XidText(31), "XID 31 (GPU memory page fault)");
  EXPECT_EQ(XidText(74), "XID 74 (NVLink error)");
}

TEST(XidError, OneThatIsNotKnownHereIsItsNumberAndDrainsNothing) {
  EXPECT_EQ(XidText(99'999), "XID 99999");
  EXPECT_FALSE(XidBreaksGpu(99'999));
}

}  // namespace
}  // namespace muster
