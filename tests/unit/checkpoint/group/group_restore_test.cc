#include "checkpoint/group/group_restore.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/group/local_commit.h"
#include "tests/unit/checkpoint/forked_ranks.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::Each;

// Ranks that each have a local level of their own and open their session together.
class GroupRestoreTest : public StoreFiles {
 protected:
  Result<std::unique_ptr<Session>> Open(const Group& group, std::uint32_t parities) const {
    SessionOptions options;
    options.directory = directory_.string();
    options.job = "job7";
    options.rank = group.rank();
    options.ranks = group.ranks();
    options.together = true;
    options.local_directory = (directory_ / ("local" + std::to_string(group.rank()))).string();
    options.failure_domain = std::to_string(group.rank());
    options.parities = parities;
    options.set_size = kRanks;
    options.flush_program = "/bin/true";  // starts, and does nothing
    fs::create_directory(options.local_directory);
    return Session::Open(std::move(options));
  }
};

TEST_F(GroupRestoreTest, AFirstStartFindsNothing) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 0).value);
    GroupRestore restore(&ranks, session.get());
    return restore.RestoreLatest().error.fault == Fault::kNotFound && restore.read_from() == 0 ? 0
                                                                                               : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST_F(GroupRestoreTest, AGenerationThatARankLacksIsPassedOverByAll) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 0).value);
    int step = 1;
    LocalCommit commit(&ranks, session.get());
    if (session->Protect("step", &step, sizeof step).failed() ||
        commit.Save(Need::kNone).failed()) {
      return 1;
    }
    step = 2;
    if (commit.Save(Need::kNone).failed()) {
      return 2;
    }
    if (group.rank() == 2) {
      (void)session->levels().local()->store().Remove({2, GenerationState::kComplete});
    }
    GroupRestore restore(&ranks, session.get());
    const Result<std::uint64_t> from = restore.RestoreLatest();
    return from.value == 1 && step == 1 && restore.read_from() == 1 && restore.passed().size() == 1
               ? 0
               : 3;
  });
  EXPECT_THAT(ends, Each(0));
}

}  // namespace
}  // namespace muster::checkpoint
