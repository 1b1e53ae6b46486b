#include "checkpoint/group/agreement.h"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/unit/checkpoint/forked_ranks.h"

namespace muster::checkpoint {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::uint32_t kRanks = 3;

TEST(AgreementTest, TheErrorOfTheFirstRankThatHasOneIsTheAnswerOnAll) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [](Group& group) {
    Agreement ranks(&group);
    const Error none = ranks.Agree({});
    const Error error =
        ranks.Agree(group.rank() == 0 ? Error() : MakeError(Fault::kCorrupt, "torn"));
    return !none.failed() && error.fault == Fault::kCorrupt && error.text == "rank 1: torn" &&
                   !ranks.broken()
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST(AgreementTest, ALongErrorIsCutAndNotLost) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [](Group& group) {
    Agreement ranks(&group);
    const Error error = ranks.Agree(MakeError(Fault::kSystem, std::string(2000, 'x')));
    return error.text == "rank 0: " + std::string(499, 'x') ? 0 : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST(AgreementTest, NumbersTextsAndRecordsReachAllRanks) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [](Group& group) {
    Agreement ranks(&group);
    std::uint64_t number = 10 + group.rank();
    std::uint64_t least = 10 - group.rank();
    std::string text = "of rank " + std::to_string(group.rank());
    std::vector<int> list(group.rank() == 0 ? 5 : 1, 7);
    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> first;
    const bool ok = !ranks.Share(&number).failed() && !ranks.Least(&least).failed() &&
                    !ranks.ShareText(2, &text).failed() && !ranks.ShareAll(&list).failed() &&
                    !ranks.GatherAll(group.rank(), &all).failed() &&
                    !ranks.Gather(group.rank(), &first).failed();
    return ok && number == 10 && least == 8 && text == "of rank 2" &&
                   list == std::vector<int>(5, 7) && all == std::vector<std::uint32_t>{0, 1, 2} &&
                   first.size() == (group.rank() == 0 ? 3U : 0U)
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST(AgreementTest, OnceARankIsGoneEveryCallFails) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [](Group& group) {
    Agreement ranks(&group);
    if (group.rank() == 2) {
      raise(SIGKILL);
    }
    const Error error = ranks.Agree({});
    std::uint64_t number = 0;
    return error.text == "the ranks lost one another: a rank is gone" && ranks.broken() &&
                   ranks.Share(&number).fault == Fault::kSystem
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, ElementsAre(0, 0, -SIGKILL));
}

}  // namespace
}  // namespace muster::checkpoint
