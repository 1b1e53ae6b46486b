#include "agent/node/faults/kernel_xids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(KernelXidsTest, ALineOfTheDriversSaysWhereAndWhich) {
  EXPECT_EQ(ReadKernelXid("4,1234,98765,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, "
                          "GPU has fallen off the bus."),
            (KernelXid{"0000:3b:00", 79}));
  EXPECT_EQ(ReadKernelXid("4,1,2,-;NVRM: Xid (PCI:0001:AF:00.0): 31"),
            (KernelXid{"0001:af:00", 31}));
  EXPECT_EQ(ReadKernelXid("4,1,2,-;NVRM: Xid (0000:03:00): 13, Graphics"),
            (KernelXid{"0000:03:00", 13}))
      << "as old drivers have it";
}

TEST(KernelXidsTest, WhatIsNoneOfTheDriversIsNone) {
  for (const char* record :
       {"", ";", "4,1,2,-;usb 1-1: new device", "NVRM: Xid (PCI:0000:3b:00): 79",
        "4,1,2,-;NVRM: Xid (PCI:0000:3b:00): x", "4,1,2,-;NVRM: Xid (PCI:0000:3b): 79",
        "4,1,2,-;NVRM: Xid (PCI:0000:3b:zz): 79", "4,1,2,-;NVRM: Xid (PCI:0000:3b:00)",
        " SUBSYSTEM=pci", "4,1,2,-;he said NVRM: Xid (PCI:0000:3b:00): 79"}) {
    EXPECT_EQ(ReadKernelXid(record), std::nullopt) << record;
  }
  EXPECT_EQ(ReadKernelXid("12,1,2,-;NVRM: Xid (PCI:0000:3b:00): 79"), std::nullopt)
      << "a program wrote it, not the kernel";
}

TEST(KernelXidsTest, WhatComesLaterIsToldAndWhatWasThereIsNot) {
  const TempDirectory directory;
  const std::string file = directory / "kmsg";
  const auto write = [&file](const std::string& text) {
    std::ofstream(file, std::ios::app) << text;
  };
  write("4,1,2,-;NVRM: Xid (PCI:0000:3b:00): 48\n");
  absl::StatusOr<KernelXids> xids = KernelXids::Open(file);
  ASSERT_TRUE(xids.ok()) << xids.status().message();
  EXPECT_THAT(xids->Read(), IsEmpty());
  write("4,2,3,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=7\n SUBSYSTEM=pci\n4,3,4,-;NVRM: Xid (PCI:00");
  EXPECT_THAT(xids->Read(), ElementsAre(Pair("0000:3b:00", ElementsAre(Pair(79, 1)))));
  write("00:3b:00): 79\n4,4,5,-;NVRM: Xid (PCI:0000:5e:00): 31\n");
  EXPECT_THAT(xids->Read(), ElementsAre(Pair("0000:3b:00", ElementsAre(Pair(79, 2))),
                                        Pair("0000:5e:00", ElementsAre(Pair(31, 1)))));
}

TEST(KernelXidsTest, ALogThatIsNotThereIsNamed) {
  EXPECT_THAT(std::string(KernelXids::Open("/nowhere/kmsg").status().message()),
              ::testing::HasSubstr("/nowhere/kmsg"));
}

TEST(KernelXidsTest, TheKernelsOwnLogIsReadWithoutWaiting) {
  absl::StatusOr<KernelXids> xids = KernelXids::Open(kKernelLog);
  if (!xids.ok()) {
    GTEST_SKIP() << "SKIPPED: " << xids.status().message();
  }
  xids->Read();
}

}  // namespace
}  // namespace muster::agent
