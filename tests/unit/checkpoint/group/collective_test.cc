// Checkpoints of several ranks: what fails on one fails on all, at every system call of each.

#include "checkpoint/group/collective.h"

#include <gmock/gmock.h>

#include <csignal>

#include "tests/unit/checkpoint/faulty_disk.h"
#include "tests/unit/checkpoint/forked_ranks.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class CollectiveTest : public StoreFiles {
 protected:
  SessionOptions Options(bool repartitionable = false) const {
    SessionOptions options;
    options.directory = directory_.string();
    options.job = "job7";
    options.keep = 2;
    options.repartitionable = repartitionable;
    return options;
  }

  // Saves `content` and the rank; 0 when that is said to have gone well.
  int Save(Group* group, const std::string& content, Disk& disk, bool repartitionable = false) {
    std::string bytes = content + std::to_string(group->rank());
    auto opened = Collective::Open(Options(repartitionable), group, disk);
    if (!opened.ok() ||
        opened.value->session().Protect("state", bytes.data(), bytes.size()).failed()) {
      return 1;
    }
    return opened.value->Save().failed() ? 1 : 0;
  }
  std::vector<int> SaveHere(const std::string& content, std::uint32_t ranks = kRanks,
                            bool repartitionable = false) {
    return EndsOfRanks(
        ranks, [&](Group& group) { return Save(&group, content, Disk::Real(), repartitionable); });
  }

  // What restoring brings: the first letter of the content, 0 when it failed, 1 when the ranks' own
  // number is not in it.
  int Restore(Group* group, Disk& disk, std::size_t size = 4) {
    std::string bytes(size, '-');
    auto opened = Collective::Open(Options(), group, disk);
    if (!opened.ok() ||
        opened.value->session().Protect("state", bytes.data(), bytes.size()).failed() ||
        !opened.value->RestoreLatest().ok()) {
      return 0;
    }
    return bytes.back() == static_cast<char>('0' + group->rank()) ? bytes.front() : 1;
  }
  std::vector<int> RestoreHere() {
    return EndsOfRanks(kRanks, [&](Group& group) { return Restore(&group, Disk::Real()); });
  }

  void StartOver() {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    ASSERT_THAT(SaveHere("old"), Each(0));
  }
};

TEST_F(CollectiveTest, AllRanksComeBackWithWhatTheySaved) {
  EXPECT_THAT(RestoreHere(), Each(0));
  ASSERT_THAT(SaveHere("old"), Each(0));
  ASSERT_THAT(SaveHere("new"), Each(0));
  EXPECT_EQ(Chosen(), Of("new"));
  EXPECT_THAT(RestoreHere(), Each('n'));
}

TEST_F(CollectiveTest, AGenerationThatOneRankCannotReadIsPassedOverByAll) {
  ASSERT_THAT(SaveHere("old"), Each(0));
  ASSERT_THAT(SaveHere("new"), Each(0));
  std::string shard = Slurp(Generation(2) / "shard-000002");
  shard.back() = static_cast<char>(shard.back() ^ 1);
  Spill(Generation(2) / "shard-000002", shard);
  const std::vector<int> ends = EndsOfRanks(kRanks, [&](Group& group) {
    std::string bytes(4, '-');
    auto opened = Collective::Open(Options(), &group);
    (void)opened.value->session().Protect("state", bytes.data(), bytes.size());
    const Result<std::uint64_t> from = opened.value->RestoreLatest();
    const auto& passed = opened.value->passed();
    return from.value == 1 && bytes == "old" + std::to_string(group.rank()) && passed.size() == 1 &&
                   passed[0] == "rank 2: gen-0000000002: shard-000002: does not match its checksum"
               ? 0
               : 1;
  });
  EXPECT_THAT(ends, Each(0));
  fs::remove_all(Generation(1));
  EXPECT_THAT(RestoreHere(), Each(0));
}

TEST_F(CollectiveTest, ARestartThatFailedIsSetAsideAndTheOneBeforeTried) {
  ASSERT_THAT(SaveHere("old"), Each(0));
  ASSERT_THAT(SaveHere("new"), Each(0));
  EXPECT_THAT(RestoreHere(), Each('n'));  // it ends there: not confirmed
  EXPECT_THAT(RestoreHere(), Each('o'));
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000002.bad"));
}

TEST_F(CollectiveTest, AnotherNumberOfRanksReadsOnlyWhatIsDeclaredRepartitionable) {
  const auto read = [&](Group& group) {
    auto opened = Collective::Open(Options(), &group);
    const Result<std::uint64_t> from = opened.value->RestoreLatest();
    if (from.error.fault != Fault::kRanks || from.value == 0) {
      return from.error.fault == Fault::kRanks ? 1 : 2;
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      std::string bytes(4, '-');
      Session& session = opened.value->session();
      if (session.ReadRegion(from.value, rank, "state", bytes.data(), bytes.size()).failed() ||
          bytes != "new" + std::to_string(rank)) {
        return 2;
      }
    }
    return opened.value->Confirm().failed() ? 2 : 0;
  };
  ASSERT_THAT(SaveHere("new", kRanks), Each(0));
  EXPECT_THAT(EndsOfRanks(2, read), Each(1));
  ASSERT_THAT(SaveHere("new", kRanks, true), Each(0));
  EXPECT_THAT(EndsOfRanks(2, read), Each(0));
  EXPECT_THAT(EndsOfRanks(5, read), Each(0));
  // Of those whom nobody reads for himself, each is looked at all the same.
  fs::resize_file(Generation(2) / "shard-000001", 10);
  EXPECT_THAT(EndsOfRanks(1, read), Each(1)) << "the older one is not repartitionable";
}

TEST_F(CollectiveTest, RanksThatDoNotBelongTogetherAreTold) {
  const auto told = [&](const char* line, const auto& change) {
    return EndsOfRanks(kRanks, [&](Group& group) {
      SessionOptions options = Options();
      if (group.rank() == 1) {
        change(&options);
      }
      const auto opened = Collective::Open(options, &group);
      return opened.error.text.find(line) != std::string::npos ? 0 : 1;
    });
  };
  EXPECT_THAT(told("rank 1: ", [](SessionOptions* o) { o->directory += "/none"; }), Each(0));
  EXPECT_THAT(told("job: is another one", [](SessionOptions* o) { o->job = "other"; }), Each(0));
  EXPECT_THAT(told("local directory (given or not), parities, set size: differ",
                   [](SessionOptions* o) { o->parities = 1; }),
              Each(0));
}

TEST_F(CollectiveTest, RanksThatSeeOtherDirectoriesRestoreNothing) {
  const fs::path other = directory_ / "elsewhere";
  fs::create_directory(other);
  ASSERT_THAT(SaveHere("one"), Each(0));
  fs::copy(Generation(1), other / "gen-0000000001");
  fs::remove_all(Generation(1));
  ASSERT_THAT(SaveHere("two"), Each(0));
  const std::vector<int> ends = EndsOfRanks(kRanks, [&](Group& group) {
    std::string bytes(4, '-');
    SessionOptions options = Options();
    options.directory += group.rank() == 1 ? "/elsewhere" : "";
    auto opened = Collective::Open(options, &group);
    (void)opened.value->session().Protect("state", bytes.data(), bytes.size());
    return opened.value->RestoreLatest().error.fault == Fault::kForeign && bytes == "----" ? 0 : 1;
  });
  EXPECT_THAT(ends, Each(0));
}

class EachCallOfEachRank : public CollectiveTest {
 protected:
  template <class Work>
  std::vector<int> CallsOf(const Work& work) {
    return EndsOfRanks(kRanks, [&](Group& group) {
      FaultyDisk disk(Trouble::kNone, -1);
      (void)work(&group, disk);
      return disk.calls();
    });
  }
  // `work` with trouble at one call of one rank.
  template <class Work>
  std::vector<int> EndsWith(Trouble trouble, std::uint32_t rank, int call, const Work& work) {
    return EndsOfRanks(kRanks, [&](Group& group) {
      FaultyDisk disk(trouble, group.rank() == rank ? call : -1);
      return work(&group, disk);
    });
  }
  template <class Each>
  void ForEach(const std::vector<int>& calls, const Each& each) {
    for (const Trouble trouble : {Trouble::kKillBefore, Trouble::kKillAfter, Trouble::kNoSpace,
                                  Trouble::kIoError, Trouble::kTruncation}) {
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        for (int call = 0; call < calls[rank]; ++call) {
          SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(trouble)) + " of rank " +
                       std::to_string(rank) + " at call " + std::to_string(call));
          each(trouble, rank, call);
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
};

TEST_F(EachCallOfEachRank, ACommitIsOneVerdictAndTheGenerationBeforeOrTheNewOneIsChosen) {
  const auto save = [&](Group* group, Disk& disk) { return Save(group, "new", disk); };
  StartOver();
  const std::vector<int> calls = CallsOf(save);
  ASSERT_GT(calls[0], 40);
  ASSERT_GT(calls[2], 12);
  ForEach(calls, [&](Trouble trouble, std::uint32_t rank, int call) {
    StartOver();
    const std::vector<int> ends = EndsWith(trouble, rank, call, save);
    const std::string chosen = Chosen();
    ASSERT_TRUE(chosen == Of("old") || chosen == Of("new")) << chosen;
    if (std::count(ends.begin(), ends.end(), 0) > 0) {
      ASSERT_EQ(chosen, Of("new")) << "a rank said that all went well";
    }
    if (trouble == Trouble::kKillBefore || trouble == Trouble::kKillAfter) {
      ASSERT_EQ(ends[rank], -SIGKILL);
    } else {
      ASSERT_THAT(ends, Each(ends[0]));
    }
    ASSERT_THAT(SaveHere("next"), Each(0)) << "what was left is in the way";
    ASSERT_EQ(Chosen(), Of("next"));
  });
}

TEST_F(EachCallOfEachRank, ARestartIsFromOneGenerationOnAllRanks) {
  const auto restore = [&](Group* group, Disk& disk) { return Restore(group, disk); };
  const auto start = [&] {
    StartOver();
    ASSERT_THAT(SaveHere("new"), Each(0));
  };
  start();
  const std::vector<int> calls = CallsOf(restore);
  ASSERT_GT(calls[2], 8);
  int restored = 0;
  ForEach(calls, [&](Trouble trouble, std::uint32_t rank, int call) {
    start();
    std::vector<int> ends = EndsWith(trouble, rank, call, restore);
    if (trouble == Trouble::kKillBefore || trouble == Trouble::kKillAfter) {
      ASSERT_EQ(ends[rank], -SIGKILL);
      return;
    }
    ASSERT_THAT(ends, Each(ends[0]));
    ASSERT_NE(ends[0], 1) << "what came back is not this rank's";
    restored += ends[0] != 0 ? 1 : 0;
  });
  EXPECT_GT(restored, 0);
}

}  // namespace
}  // namespace muster::checkpoint
