// From the local level to the shared one: whole or not at all, wherever the helper dies.

#include "checkpoint/store/flush.h"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>

#include "checkpoint/advice/progress.h"
#include "checkpoint/store/flush_queue.h"
#include "tests/unit/checkpoint/faulty_disk.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The shared directory is StoreFiles'; each rank has a local one.
class FlushTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    std::string pattern = directory_.string() + "-local-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    locals_ = pattern;
    MakeLocals();
  }
  void TearDown() override {
    fs::remove_all(locals_);
    StoreFiles::TearDown();
  }
  void MakeLocals() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      fs::remove_all(Local(rank));
      fs::create_directory(Local(rank));
    }
  }

  fs::path Local(std::uint32_t rank) const { return locals_ / std::to_string(rank); }
  FlushPlan PlanOf(std::uint32_t rank, std::uint32_t keep = 1) const {
    FlushPlan plan;
    plan.local = Local(rank).string();
    plan.shared = directory_.string();
    plan.rank = rank;
    plan.retention.keep = keep;
    return plan;
  }

  // Commits generation `number` on every rank's local level and asks for its flush.
  void CommitLocally(std::uint64_t number, const std::string& content) {
    Manifest manifest;
    manifest.job = "job7";
    manifest.generation = number;
    std::vector<Store> stores;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      stores.push_back(std::move(Store::Open(Disk::Real(), Local(rank).string()).value));
      ASSERT_EQ(stores.back().BeginAs(number).text, "");
      const std::string bytes = content + std::to_string(rank);
      const Result<ShardSeal> seal = stores.back().Write({"job7", number, rank, kRanks},
                                                         {{"state", bytes.data(), bytes.size()}});
      ASSERT_TRUE(seal.ok()) << seal.error.text;
      manifest.shards.push_back(seal.value);
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(stores[rank].Commit(manifest).text, "");
      ASSERT_EQ(Queue(rank).Add(number).text, "");
    }
  }
  FlushQueue Queue(std::uint32_t rank) const {
    return std::move(FlushQueue::Open(Disk::Real(), Local(rank).string()).value);
  }
  void FlushEverywhere() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(FlushAll(PlanOf(rank)).text, "");
    }
  }
  // Names in the shared directory that begin so.
  std::vector<std::string> Shared(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      const std::string name = entry.path().filename().string();
      if (name.compare(0, prefix.size(), prefix) == 0) {
        names.push_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Shared: "old". On the local levels: "new", of which all ranks but the last are flushed.
  void LastRankIsMissing() {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    MakeLocals();
    ASSERT_EQ(WriteGenerationHere("old").text, "");
    CommitLocally(2, "new");
    for (std::uint32_t rank = 0; rank + 1 < kRanks; ++rank) {
      ASSERT_EQ(FlushAll(PlanOf(rank)).text, "");
    }
    ASSERT_EQ(Chosen(), Of("old"));
  }
  void ExpectOldOrNewAndThenTheNext() {
    const std::string chosen = Chosen();
    ASSERT_TRUE(chosen == Of("old") || chosen == Of("new")) << chosen;
    ASSERT_THAT(passed_, IsEmpty());  // never complete in name only
    CommitLocally(3, "next");
    FlushEverywhere();
    ASSERT_EQ(Chosen(), Of("next"));
    ASSERT_THAT(Shared("gen-"), ElementsAre("gen-0000000003"));
  }

  fs::path locals_;
};

constexpr std::uint32_t kLast = 2;

TEST_F(FlushTest, EachRanksHelperTellsHowLongItsCopyTook) {
  const std::string page = (locals_ / "progress").string();
  const OpenFile file(Disk::Real(), CreateProgress(page).value);
  CommitLocally(1, "new");
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    FlushPlan plan = PlanOf(rank);
    plan.progress = page;
    // It was added an hour ago.
    const fs::path waiting = Local(rank) / "flush-0000000001";
    fs::last_write_time(waiting, fs::last_write_time(waiting) - std::chrono::hours(1));
    ASSERT_EQ(FlushAll(plan).text, "");
    const ProgressReport report = ReadProgress(file.get()).value;
    EXPECT_EQ(report.copies, rank + 1U);
    EXPECT_GE(report.copy_us, 3'600'000'000U);
    ASSERT_EQ(Queue(rank).Add(1).text, "");  // it is there already: nothing is copied
    ASSERT_EQ(FlushAll(plan).text, "");
  }
  EXPECT_EQ(ReadProgress(file.get()).value.copies, std::uint64_t{kRanks});
}

TEST_F(FlushTest, AGenerationAppearsWithItsLastShard) {
  CommitLocally(1, "new");
  for (const std::uint32_t rank : {1U, 2U}) {
    ASSERT_EQ(FlushAll(PlanOf(rank)).text, "");
    EXPECT_THAT(Chosen(), HasSubstr("holds no generation"));
  }
  ASSERT_EQ(FlushAll(PlanOf(0)).text, "");
  EXPECT_EQ(Chosen(), Of("new"));
  EXPECT_EQ(Slurp(directory_ / "latest"), "gen-0000000001\n");
  EXPECT_THAT(Shared("gen-"), ElementsAre("gen-0000000001"));
  EXPECT_THAT(Queue(0).Unflushed().value, IsEmpty());
  // What is there already is not an error, and nothing is written again.
  ASSERT_EQ(Queue(1).Add(1).text, "");
  EXPECT_EQ(FlushAll(PlanOf(1)).text, "");
}

TEST_F(FlushTest, WhereverTheHelperDiesOrFailsTheGenerationIsWholeOrNotThere) {
  LastRankIsMissing();
  FaultyDisk whole(Trouble::kNone, -1);
  ASSERT_EQ(FlushAll(PlanOf(kLast), whole).text, "");
  ASSERT_EQ(Chosen(), Of("new"));
  const int calls = whole.calls();
  EXPECT_GT(calls, 60);
  for (const Trouble trouble : {Trouble::kKillBefore, Trouble::kKillAfter, Trouble::kNoSpace,
                                Trouble::kIoError, Trouble::kTruncation}) {
    for (int call = 0; call < calls; ++call) {
      SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(trouble)) + " at call " +
                   std::to_string(call));
      LastRankIsMissing();
      const int end = EndOfChild([&] {
        FaultyDisk disk(trouble, call);
        return FlushAll(PlanOf(kLast), disk).failed() ? 1 : 0;
      });
      if (trouble == Trouble::kKillBefore || trouble == Trouble::kKillAfter) {
        ASSERT_EQ(end, -SIGKILL);
        if (!Queue(kLast).Unflushed().value.empty()) {  // the next helper takes it up
          ASSERT_EQ(FlushAll(PlanOf(kLast)).text, "");
        }
        ASSERT_EQ(Chosen(), Of("new"));
      }
      ExpectOldOrNewAndThenTheNext();
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST_F(FlushTest, APowerLossLeavesTheGenerationBeforeOrTheNewOne) {
  LastRankIsMissing();
  PowerLossDisk whole(-1);
  ASSERT_EQ(FlushAll(PlanOf(kLast), whole).text, "");
  for (int call = 0; call < whole.calls(); ++call) {
    SCOPED_TRACE("at call " + std::to_string(call));
    LastRankIsMissing();
    ASSERT_EQ(EndOfChild([&] {
                PowerLossDisk disk(call);
                return FlushAll(PlanOf(kLast), disk).failed() ? 1 : 0;
              }),
              -SIGKILL);
    ExpectOldOrNewAndThenTheNext();
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST_F(FlushTest, TwoGenerationsOfOneNumberNeverMix) {
  CommitLocally(1, "one");
  ASSERT_EQ(FlushAll(PlanOf(0)).text, "");
  MakeLocals();
  CommitLocally(1, "two");
  ASSERT_EQ(FlushAll(PlanOf(1)).text, "");
  ASSERT_EQ(FlushAll(PlanOf(2)).text, "");
  EXPECT_THAT(Chosen(), HasSubstr("holds no generation"));
  ASSERT_EQ(FlushAll(PlanOf(0)).text, "");
  EXPECT_EQ(Chosen(), Of("two"));
  MakeLocals();
  CommitLocally(1, "three");
  EXPECT_THAT(FlushAll(PlanOf(0)).text, HasSubstr("gen-0000000001: is there, and another one"));
  EXPECT_THAT(Queue(0).TakeError(), HasSubstr("flush of generation 1 to "));
  EXPECT_EQ(Queue(0).TakeError(), "");
  EXPECT_EQ(Chosen(), Of("two"));
}

TEST_F(FlushTest, AGenerationThatANewerOneOvertookGoes) {
  CommitLocally(1, "lost");
  ASSERT_EQ(FlushAll(PlanOf(0)).text, "");
  EXPECT_EQ(Shared("gen-0000000001.from-").size(), 1U);
  CommitLocally(2, "new");
  ASSERT_TRUE(Queue(1).Withdraw(1));
  FlushEverywhere();
  EXPECT_EQ(Chosen(), Of("new"));
  EXPECT_THAT(Shared("gen-"), ElementsAre("gen-0000000002"));
  const Result<Store> shared = Store::Open(Disk::Real(), directory_.string());
  EXPECT_EQ(shared.value.Next().value, 3U);
}

TEST_F(FlushTest, ADamagedLocalShardIsNotPassedOn) {
  CommitLocally(1, "new");
  const fs::path shard = Local(0) / "gen-0000000001" / "shard-000000";
  std::string bytes = Slurp(shard);
  bytes.back() ^= 1;
  Spill(shard, bytes);
  EXPECT_THAT(FlushAll(PlanOf(0)).text, HasSubstr("does not match its checksum"));
  ASSERT_EQ(FlushAll(PlanOf(1)).text, "");
  ASSERT_EQ(FlushAll(PlanOf(2)).text, "");
  EXPECT_THAT(Chosen(), HasSubstr("holds no generation"));
}

TEST_F(FlushTest, WhatWaitsIsWithdrawnAndWhatWasBegunIsNot) {
  FlushQueue queue = Queue(0);
  ASSERT_EQ(queue.Add(3).text, "");
  ASSERT_EQ(queue.Add(4).text, "");
  EXPECT_EQ(queue.BeginOldest().value, 3U);
  EXPECT_FALSE(queue.Withdraw(3));
  EXPECT_THAT(queue.Unflushed().value, ElementsAre(3U, 4U));
  EXPECT_THAT(queue.Waiting().value, ElementsAre(4U));
  EXPECT_TRUE(queue.Withdraw(4));
  EXPECT_EQ(queue.BeginOldest().value, 3U);  // of a helper that died
  queue.End(3);
  EXPECT_EQ(queue.BeginOldest().value, 0U);
}

TEST_F(FlushTest, ASecondHelperLeavesTheWorkToTheFirst) {
  CommitLocally(1, "new");
  FlushQueue queue = Queue(0);
  OpenFile lock(Disk::Real(), -1);
  ASSERT_TRUE(queue.Lock(&lock).value);
  EXPECT_EQ(FlushAll(PlanOf(0)).text, "");
  EXPECT_THAT(queue.Waiting().value, ElementsAre(1U));
}

// Its names in /proc are those of what we adopted, ended or not.
std::vector<std::string> AdoptedNames() {
  std::vector<std::string> names;
  std::ifstream children("/proc/thread-self/children");
  for (std::string child; children >> child;) {
    std::string name;
    std::getline(std::ifstream("/proc/" + child + "/comm"), name);
    names.push_back(name);
  }
  return names;
}

TEST_F(FlushTest, TheHelperIsKnownByItsNameBeforeTheProgramGoesOn) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(StartFlush(MUSTER_FLUSH_PROGRAM, PlanOf(0)).text, "");
    EXPECT_THAT(AdoptedNames(), ElementsAre("muster-flush"));
    ASSERT_GT(waitpid(-1, nullptr, 0), 0);
  }
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

}  // namespace
}  // namespace muster::checkpoint
