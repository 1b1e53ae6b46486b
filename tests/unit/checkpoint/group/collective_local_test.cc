// Several ranks with local levels and parity: at every system call of each rank, one verdict, and
// what was committed comes back, also when a level is lost.

#include <gmock/gmock.h>

#include <csignal>

#include "checkpoint/group/collective.h"
#include "tests/unit/checkpoint/faulty_disk.h"
#include "tests/unit/checkpoint/forked_ranks.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::AnyOf;
using ::testing::Each;

class LocalRanks : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    std::string pattern = directory_.string() + "-local-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    locals_ = pattern;
  }
  void TearDown() override {
    fs::remove_all(locals_);
    StoreFiles::TearDown();
  }

  void Lose(std::uint32_t rank) const {
    fs::remove_all(locals_ / std::to_string(rank));
    fs::create_directory(locals_ / std::to_string(rank));
  }
  void StartOver() {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      Lose(rank);
    }
    ASSERT_THAT(SaveHere("old"), Each(0));
  }

  SessionOptions OptionsOf(const Group& group) const {
    const std::string own = std::to_string(group.rank());
    SessionOptions options;
    options.directory = directory_.string();
    options.job = "job7";
    options.local_directory = (locals_ / own).string();
    options.failure_domain = own;
    options.parities = 1;
    options.set_size = kRanks;
    options.flush_program = "/bin/true";  // starts, and does nothing
    return options;
  }
  Result<std::unique_ptr<Collective>> Open(Group* group, Disk& disk, std::string* bytes) const {
    const SessionOptions options = OptionsOf(*group);
    auto opened = Collective::Open(options, group, disk);
    if (opened.ok()) {
      (void)opened.value->session().Protect("state", bytes->data(), bytes->size());
    }
    return opened;
  }
  int Save(Group* group, const std::string& content, Disk& disk) const {
    std::string bytes = content + std::to_string(group->rank());
    auto opened = Open(group, disk, &bytes);
    return opened.ok() && !opened.value->Save().failed() ? 0 : 1;
  }
  std::vector<int> SaveHere(const std::string& content) const {
    return EndsOfRanks(kRanks, [&](Group& group) { return Save(&group, content, Disk::Real()); });
  }
  // The numbers that wait on the rank for their flush.
  std::vector<std::uint64_t> Waiting(std::uint32_t rank) const {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(locals_ / std::to_string(rank))) {
      return FlushQueue::Open(Disk::Real(), entry.path().string()).value.Unflushed().value;
    }
    return {};
  }
  // Saves so often with what rank 0's hints say.
  int SaveOften(Group* group, const Hints& hints, int times) const {
    std::string bytes = "x" + std::to_string(group->rank());
    SessionOptions options = OptionsOf(*group);
    if (group->rank() == 0) {
      options.hints = (locals_ / "hints").string();
      HintFile::Create(options.hints).value.Publish(hints);
    }
    const auto opened = Collective::Open(options, group);
    if (!opened.ok() || opened.value->session().Protect("s", bytes.data(), bytes.size()).failed()) {
      return 1;
    }
    for (int i = 0; i < times; ++i) {
      if (!opened.value->ShouldCheckpoint().ok() || opened.value->Save().failed()) {
        return 2;
      }
    }
    return 0;
  }

  // The first letter of what came back, 0 when nothing did, 1 when it is not this rank's.
  int Restore(Group* group, Disk& disk) const {
    std::string bytes(4, '-');
    auto opened = Open(group, disk, &bytes);
    if (!opened.ok() || !opened.value->RestoreLatest().ok()) {
      return 0;
    }
    return bytes.back() == static_cast<char>('0' + group->rank()) ? bytes.front() : 1;
  }
  std::vector<int> RestoreHere() const {
    return EndsOfRanks(kRanks, [&](Group& group) { return Restore(&group, Disk::Real()); });
  }

  template <class Work>
  std::vector<int> CallsOf(const Work& work) const {
    return EndsOfRanks(kRanks, [&](Group& group) {
      FaultyDisk disk(Trouble::kNone, -1);
      (void)work(&group, disk);
      return disk.calls();
    });
  }
  // Tries `work` with each trouble at each call of each rank; `after` looks at the ends.
  template <class Work, class Before, class After>
  void ForEachCall(const Before& before, const Work& work, const After& after) const {
    before();
    const std::vector<int> calls = CallsOf(work);
    for (const Trouble trouble : {Trouble::kKillBefore, Trouble::kIoError, Trouble::kTruncation}) {
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        ASSERT_GT(calls[rank], 30);
        for (int call = 0; call < calls[rank]; ++call) {
          SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(trouble)) + " of rank " +
                       std::to_string(rank) + " at call " + std::to_string(call));
          before();
          const std::vector<int> ends = EndsOfRanks(kRanks, [&](Group& group) {
            FaultyDisk disk(trouble, group.rank() == rank ? call : -1);
            return work(&group, disk);
          });
          if (trouble == Trouble::kKillBefore) {
            ASSERT_EQ(ends[rank], -SIGKILL);
          } else {
            ASSERT_THAT(ends, Each(ends[0])) << "one verdict on all";
          }
          after(ends);
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }

  fs::path locals_;
};

TEST_F(LocalRanks, OneLostLevelComesBackAndTwoDoNot) {
  for (std::uint32_t lost = 0; lost < kRanks; ++lost) {
    StartOver();
    ASSERT_THAT(SaveHere("new"), Each(0));
    Lose(lost);
    EXPECT_THAT(RestoreHere(), Each('n')) << lost;
  }
  Lose(0);
  Lose(2);
  EXPECT_THAT(RestoreHere(), Each(0));
}

// Each of a session's copies takes the place of the one before, which no helper has begun; what is
// left when it closes comes besides.
TEST_F(LocalRanks, AllCopyTheGenerationsThatRankZeroIsTold) {
  struct Case {
    Hints hints;
    int times;
    std::vector<std::uint64_t> waiting;
  };
  for (const Case& each : std::vector<Case>{
           {{.copy_every = 3}, 7, {6, 7}},
           {{.copy_every = 3}, 6, {6}},
           {{}, 2, {2}},
           {{.notice = Notice::kPreemption, .notice_number = 2, .copy_every = 9}, 1, {1}}}) {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      Lose(rank);
    }
    ASSERT_THAT(
        EndsOfRanks(kRanks,
                    [&](Group& group) { return SaveOften(&group, each.hints, each.times); }),
        Each(0));
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(Waiting(rank), each.waiting) << rank;
    }
  }
}

TEST_F(LocalRanks, ACommitIsOneVerdictAndWhatIsFoundAfterwardsIsWhole) {
  ForEachCall([&] { StartOver(); },
              [&](Group* group, Disk& disk) { return Save(group, "new", disk); },
              [&](const std::vector<int>& ends) {
                const std::vector<int> found = RestoreHere();
                ASSERT_THAT(found, AnyOf(Each('o'), Each('n')));
                if (std::count(ends.begin(), ends.end(), 0) > 0) {
                  ASSERT_EQ(found[0], 'n') << "a rank said that all went well";
                }
                ASSERT_THAT(SaveHere("next"), Each(0)) << "what was left is in the way";
              });
}

TEST_F(LocalRanks, ARebuildThatFailsOrIsKilledCostsNothing) {
  ForEachCall(
      [&] {
        StartOver();
        ASSERT_THAT(SaveHere("new"), Each(0));
        Lose(1);
      },
      [&](Group* group, Disk& disk) { return Restore(group, disk); },
      [&](const std::vector<int>& ends) {
        for (const int end : ends) {
          ASSERT_NE(end, 1) << "what came back is not this rank's";
        }
        // A restart that was noted and not confirmed sets its generation aside.
        ASSERT_THAT(RestoreHere(), AnyOf(Each('o'), Each('n')));
      });
}

}  // namespace
}  // namespace muster::checkpoint
