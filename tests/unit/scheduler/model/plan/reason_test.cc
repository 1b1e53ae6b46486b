#include "scheduler/model/plan/reason.h"

#include <gtest/gtest.h>

#include "scheduler/model/value/units.h"

namespace muster {
namespace {

Reason Lacking(std::uint32_t nodes, std::vector<Shortage> shortages) {
  Reason reason;
  reason.kind = ReasonKind::kResources;
  reason.nodes = nodes;
  reason.shortages = std::move(shortages);
  return reason;
}

TEST(Reason, SaysWhatEachKindOfNodeLacksWithNumbers) {
  EXPECT_EQ(
      ToSentence(Lacking(2, {{ShortageKind::kCores, 1, 3, 1}, {ShortageKind::kDrained, 1, 0, 0}})),
      "2 nodes: 1 short of 3 cores (has 1), 1 drained");
  EXPECT_EQ(ToSentence(Lacking(1, {{ShortageKind::kCores, 1, 1, 0}})),
            "1 node: 1 short of 1 core (has 0)");
  EXPECT_EQ(
      ToSentence(Lacking(9, {{ShortageKind::kGpus, 4, 2, 1},
                             {ShortageKind::kGpuType, 3, 2, 0},
                             {ShortageKind::kGpuType, 1, 1, 0, "40 GiB"},
                             {ShortageKind::kDown, 2, 0, 0}})),
      "9 nodes: 4 short of 2 GPUs (has 1), 3 without GPUs of that type, 1 without GPUs of that "
      "type with 40 GiB, 2 down");
}

TEST(Reason, SaysWhatNodesLackTogether) {
  EXPECT_EQ(ToSentence(Lacking(3, {{ShortageKind::kNodes, 0, 3, 2}})),
            "3 nodes: needs 3 nodes, only 2 fit");
  EXPECT_EQ(ToSentence(Lacking(3, {{ShortageKind::kTasks, 2, 8, 5}})),
            "3 nodes: 2 with room for 5 of 8 tasks");
}

TEST(Reason, WritesMemoryInTheUnitThatFits) {
  const auto memory = [](std::uint64_t needed, std::uint64_t has) {
    return ToSentence(Shortage{ShortageKind::kMemory, 1, needed, has});
  };
  const std::uint64_t mib = kMebibyte.value();
  EXPECT_EQ(memory(3 * 1024 * mib, 512 * mib), "short of 3 GiB (has 512 MiB)");
  EXPECT_EQ(memory(1536 * mib, 7), "short of 1.5 GiB (has 7 B)");
  EXPECT_EQ(memory(UINT64_MAX, 0), "short of 16777215.9 TiB (has 0 B)");
}

TEST(Reason, CountsTheJobsBeforeIt) {
  Reason reason;
  reason.kind = ReasonKind::kPriority;
  reason.behind = JobId(7);
  reason.ahead = 1;
  EXPECT_EQ(ToSentence(reason), "1 job before it, first job 7");
  reason.ahead = 12;
  EXPECT_EQ(ToSentence(reason), "12 jobs before it, first job 7");
}

TEST(Reason, NamesTheMomentAndTheLimitAndTheMend) {
  Reason reason;
  reason.kind = ReasonKind::kBeginTime;
  reason.until = Time(std::chrono::seconds(1700000000));
  EXPECT_EQ(ToSentence(reason), "not before 2023-11-14 22:13:20 UTC");
  reason.name = "at its last start there was no image app";
  EXPECT_EQ(ToSentence(reason),
            "not before 2023-11-14 22:13:20 UTC: at its last start there was no image app");
  reason.kind = ReasonKind::kJobArrayTaskLimit;
  reason.limit = 3;
  EXPECT_EQ(ToSentence(reason), "the array runs at most 3 at a time");
  reason.kind = ReasonKind::kJobHeldUser;
  EXPECT_EQ(ToSentence(reason), "held; muster release starts it on its way");
}

TEST(Reason, HasANameAndASentenceForEveryKind) {
  for (int kind = 1; kind <= static_cast<int>(ReasonKind::kCleaning); ++kind) {
    Reason reason;
    reason.kind = static_cast<ReasonKind>(kind);
    EXPECT_STRNE(Name(reason.kind), "None") << kind;
    EXPECT_FALSE(ToSentence(reason).empty()) << kind;
  }
}

}  // namespace
}  // namespace muster
