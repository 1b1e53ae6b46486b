#include "checkpoint/group/group_rebuild.h"

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
class GroupRebuildTest : public StoreFiles {
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

TEST_F(GroupRebuildTest, AShardThatOneRankLostIsItsOwnAgain) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 1).value);
    std::string bytes = "of rank " + std::to_string(group.rank());
    LocalCommit commit(&ranks, session.get());
    if (session->Protect("state", bytes.data(), bytes.size()).failed() || commit.Form().failed() ||
        commit.Save(Need::kNone).failed()) {
      return 1;
    }
    Store& store = session->levels().local()->store();
    const GenerationName name{1, GenerationState::kComplete};
    const std::uint64_t seal = ChecksumOf(PrintManifest(store.ReadManifest(name).value));
    const bool loses = group.rank() == 1;
    if (loses && store.Remove(name).failed()) {
      return 2;
    }
    std::vector<Holding> holdings(kRanks, {1, 1, kRanks, {0, 1, 2}});
    holdings[1] = {};
    GroupRebuild rebuild(&ranks, session.get());
    if (rebuild.Rebuild({1, 0, 1, seal}, holdings).failed()) {
      return 3;
    }
    bytes.assign(bytes.size(), '-');
    return !session->Restore(1).failed() && bytes == "of rank " + std::to_string(group.rank()) ? 0
                                                                                               : 4;
  });
  EXPECT_THAT(ends, Each(0));
}

TEST_F(GroupRebuildTest, MoreThanTheParitiesCanBearIsSaid) {
  const std::vector<int> ends = EndsOfRanks(kRanks, [this](Group& group) {
    Agreement ranks(&group);
    const auto session = std::move(Open(group, 1).value);
    std::vector<Holding> holdings(kRanks);
    holdings[0] = {1, 1, kRanks, {0, 1, 2}};
    GroupRebuild rebuild(&ranks, session.get());
    const Error error = rebuild.Rebuild({1, 0, 1, 0}, holdings);
    return error.fault == Fault::kCorrupt && error.text.starts_with("gen-0000000001: rank 1 has no")
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

}  // namespace
}  // namespace muster::checkpoint
