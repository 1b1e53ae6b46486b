#include "checkpoint/group/local_commit.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/checkpoint/forked_ranks.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::Each;

// Ranks that each have a local level of their own and open their session together.
class LocalCommitTest : public StoreFiles {
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

TEST_F(LocalCommitTest, EveryRankHasTheSameGenerationOnItsOwnLevel) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 1).value);
    LocalCommit commit(&ranks, session.get());
    if (commit.Form().failed() || commit.Save(Need::kNone).failed() ||
        commit.Save(Need::kInterval).failed()) {
      return 1;
    }
    const Store& store = session->levels().local()->store();
    return store.List().value.size() == 2 && store.List().value.front().number == 2 ? 0 : 2;
  });
  EXPECT_THAT(ends, Each(0));
  EXPECT_FALSE(fs::exists(Generation(1))) << "no helper copied it";
}

TEST_F(LocalCommitTest, SetsNeedMoreFailureDomainsThanParities) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, kRanks).value);
    return LocalCommit(&ranks, session.get()).Form().fault == Fault::kUsage ? 0 : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST_F(LocalCommitTest, WhatOneRankCannotWriteNoRankHas) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 0).value);
    if (group.rank() == 1) {
      (void)session->ProtectFile("model", "/no/such/file");
    }
    LocalCommit commit(&ranks, session.get());
    const Error error = commit.Save(Need::kNone);
    return error.text == "rank 1: /no/such/file: No such file or directory" &&
                   session->levels().local()->store().List().value.empty()
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

}  // namespace
}  // namespace muster::checkpoint
