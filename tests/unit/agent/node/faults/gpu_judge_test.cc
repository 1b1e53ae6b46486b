#include "agent/node/faults/gpu_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GpuJudgeTest : public ::testing::Test {
 protected:
  GpuJudgeTest() {
    gpus_[0].uuid = "GPU-a";
    gpus_[1].uuid = "GPU-b";
  }
  std::vector<GpuFault> Judge() { return judge_.Judge(gpus_, Time(seconds(++second_))); }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const GpuError& error : judge_.errors()) {
      texts.push_back(error.uuid + ": " + error.text);
    }
    return texts;
  }

  std::vector<topology::GpuReading> gpus_{2};
  GpuJudge judge_;
  int second_ = 100;
};

TEST_F(GpuJudgeTest, AGpuThatFallsOffTheBusIsToldOnce) {
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[1].lost = true;
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-b", ""}));
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Texts(), ElementsAre("GPU-b: a GPU that fell off the bus"));
  EXPECT_EQ(judge_.errors()[0].after, Time(seconds(101)));
  EXPECT_EQ(judge_.errors()[0].seen, Time(seconds(102)));
}

TEST_F(GpuJudgeTest, AnErrorThatBreaksAGpuIsToldEachTimeAndAProgramsOwnIsNoFault) {
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].xid_counts = {{31, 1}};
  gpus_[0].xids = 1;
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Texts(), ElementsAre("GPU-a: XID 31 (GPU memory page fault)"));
  gpus_[0].breaking_xid = 48;
  gpus_[0].breaking_xids = 1;
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-a", "XID 48 (double bit ECC error)"}));
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].breaking_xids = 2;
  gpus_[0].breaking_by = "the kernel's log";
  EXPECT_THAT(Judge(),
              ElementsAre(GpuFault{"GPU-a", "XID 48 (double bit ECC error)", "the kernel's log"}));
}

TEST_F(GpuJudgeTest, WithoutXidsUncorrectedErrorsThatComeAreToldAndThoseOfBeforeAreNot) {
  gpus_[0].uncorrected_ecc = 7;
  gpus_[1].uncorrected_ecc = 7;
  gpus_[1].xids = 0;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].uncorrected_ecc = 9;
  gpus_[1].uncorrected_ecc = 9;
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-a", "2 errors that ECC could not correct"}))
      << "the other's driver would have told an XID that says whether it is broken";
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Texts(), SizeIs(2)) << "jobs on the other met them, too";
}

TEST_F(GpuJudgeTest, ALookThatCannotReadTheCountHidesNoErrorOfMemory) {
  gpus_[0].uncorrected_ecc = 7;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].uncorrected_ecc = std::nullopt;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].uncorrected_ecc = 9;
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-a", "2 errors that ECC could not correct"}));
  gpus_[0].uncorrected_ecc = 0;
  EXPECT_THAT(Judge(), IsEmpty()) << "its driver was loaded again";
  gpus_[0].uncorrected_ecc = 1;
  EXPECT_THAT(Judge(), SizeIs(1));
}

TEST_F(GpuJudgeTest, AnNvLinkThatWasUpAndStaysDownIsAFaultAndOneThatTrainsAgainIsNot) {
  gpus_[0].link.nvlinks = 18;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].link.nvlinks = 17;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].link.nvlinks = 18;
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Texts(), IsEmpty());
  EXPECT_EQ(judge_.LostLinks("GPU-a"), 0U);
  EXPECT_EQ(judge_.LostLinks("GPU-b"), std::nullopt) << "it has none, or does not say";
  gpus_[0].link.nvlinks = 17;
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-a", "1 of its 18 NVLinks is down"}));
  EXPECT_THAT(Judge(), IsEmpty()) << "it is told once";
  EXPECT_EQ(judge_.LostLinks("GPU-a"), 1U);
  gpus_[0].link.nvlinks = 12;
  Judge();
  EXPECT_THAT(Judge(), ElementsAre(GpuFault{"GPU-a", "6 of its 18 NVLinks are down"}));
  EXPECT_THAT(Texts(), ElementsAre("GPU-a: a lost link (1 of its 18 NVLinks is down)",
                                   "GPU-a: a lost link (6 of its 18 NVLinks are down)"));
  gpus_[0].link.nvlinks = 18;
  Judge();
  EXPECT_EQ(judge_.LostLinks("GPU-a"), 0U);
}

TEST_F(GpuJudgeTest, TwoLooksAtOnceAreOneLookAtLinks) {
  gpus_[0].link.nvlinks = 18;
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].link.nvlinks = 17;
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(judge_.Judge(gpus_, Time(seconds(second_)) + Duration(3)), IsEmpty());
  EXPECT_THAT(Judge(), SizeIs(1));
}

TEST_F(GpuJudgeTest, ASlowerPcieLinkIsNotALostOne) {
  gpus_[0].link = {5, 16, std::nullopt};
  EXPECT_THAT(Judge(), IsEmpty());
  gpus_[0].link = {1, 8, std::nullopt};
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Judge(), IsEmpty());
  EXPECT_THAT(Texts(), IsEmpty());
}

TEST_F(GpuJudgeTest, TheNewestErrorsAreKept) {
  for (std::uint64_t i = 1; i <= GpuJudge::kErrorsKept + 5; ++i) {
    gpus_[0].xid_counts[31] = i;
    Judge();
  }
  EXPECT_THAT(judge_.errors(), SizeIs(GpuJudge::kErrorsKept));
}

}  // namespace
}  // namespace muster::agent
