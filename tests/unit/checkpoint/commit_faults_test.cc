// Every system call of a commit, made to fail: the generation before stays, and is chosen.

#include <gmock/gmock.h>

#include <csignal>

#include "tests/unit/checkpoint/faulty_disk.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using CommitFaults = StoreFiles;

// Commits and retires through `disk`; 0 when it says that all went well.
int CommitThrough(Disk& disk, const std::string& path, Error (*commit)(Store*)) {
  Result<Store> store = Store::Open(disk, path);
  return store.ok() && !commit(&store.value).failed() ? 0 : 1;
}

class EachCall : public StoreFiles {
 protected:
  static Error CommitNew(Store* store) { return WriteGeneration(store, "new"); }

  int CallsOfACommit() {
    FaultyDisk disk(Trouble::kNone, -1);
    EXPECT_EQ(CommitThrough(disk, directory_.string(), CommitNew), 0);
    return disk.calls();
  }

  // A directory with one generation, as every case begins.
  void StartOver() {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    ASSERT_FALSE(WriteGenerationHere("old").failed());
  }

  void TryAt(Trouble trouble, int call) {
    StartOver();
    const int end = EndOfChild([&] {
      FaultyDisk disk(trouble, call);
      return CommitThrough(disk, directory_.string(), CommitNew);
    });
    const std::string chosen = Chosen();
    ASSERT_TRUE(chosen == Of("old") || chosen == Of("new")) << chosen;
    if (end == 0) {
      ASSERT_EQ(chosen, Of("new")) << "it said that all went well";
    }
    if (trouble == Trouble::kKillBefore || trouble == Trouble::kKillAfter) {
      ASSERT_EQ(end, -SIGKILL);
    }
    // Whatever it left, the next commit succeeds, and then there is nothing else.
    ASSERT_FALSE(WriteGenerationHere("next").failed());
    ASSERT_EQ(Chosen(), Of("next"));
    const Result<Store> store = Store::Open(Disk::Real(), directory_.string());
    ASSERT_EQ(store.value.List().value.size(), 1U);
  }
};

TEST_F(EachCall, WhateverFailsTheGenerationBeforeOrTheNewOneIsChosen) {
  StartOver();
  const int calls = CallsOfACommit();
  EXPECT_GT(calls, 60);
  for (const Trouble trouble : {Trouble::kKillBefore, Trouble::kKillAfter, Trouble::kNoSpace,
                                Trouble::kIoError, Trouble::kTruncation}) {
    for (int call = 0; call < calls; ++call) {
      SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(trouble)) + " at call " +
                   std::to_string(call));
      TryAt(trouble, call);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

TEST_F(EachCall, APowerLossLeavesTheGenerationBeforeOrTheNewOne) {
  StartOver();
  PowerLossDisk whole(-1);
  ASSERT_EQ(CommitThrough(whole, directory_.string(), CommitNew), 0);
  const int calls = whole.calls();
  EXPECT_GT(calls, 30);
  int renewed = 0;
  for (int call = 0; call < calls; ++call) {
    SCOPED_TRACE("at call " + std::to_string(call));
    StartOver();
    const int end = EndOfChild([&] {
      PowerLossDisk disk(call);
      return CommitThrough(disk, directory_.string(), CommitNew);
    });
    ASSERT_EQ(end, -SIGKILL);
    const std::string chosen = Chosen();
    ASSERT_TRUE(chosen == Of("old") || chosen == Of("new")) << chosen;
    ASSERT_TRUE(passed_.empty()) << passed_.front();  // never complete in name only
    renewed += chosen == Of("new") ? 1 : 0;
    ASSERT_FALSE(WriteGenerationHere("next").failed());
    ASSERT_EQ(Chosen(), Of("next"));
  }
  EXPECT_GT(renewed, 0);
  EXPECT_LT(renewed, calls);
}

TEST_F(CommitFaults, AWriteThatLiedIsFoundBeforeTheGenerationBeforeGoes) {
  ASSERT_FALSE(WriteGenerationHere("old").failed());
  FaultyDisk count(Trouble::kNone, -1);
  // Whichever write lies, the old generation is still there afterwards.
  for (int call = 0; call < 100; ++call) {
    FaultyDisk disk(Trouble::kTruncation, call);
    Result<Store> store = Store::Open(disk, directory_.string());
    ASSERT_TRUE(store.ok());
    const Error error = WriteGeneration(&store.value, "new");
    if (error.failed()) {
      ASSERT_EQ(Chosen(), Of("old")) << error.text;
    }
    fs::remove_all(directory_);
    fs::create_directory(directory_);
    ASSERT_FALSE(WriteGenerationHere("old").failed());
  }
}

TEST_F(CommitFaults, ASecondLivingWriterIsRefused) {
  Result<Store> first = Store::Open(Disk::Real(), directory_.string());
  ASSERT_FALSE(first.value.LockForWriting().failed());
  const Error error = WriteGenerationHere("new");
  EXPECT_EQ(error.fault, Fault::kBusy);
  EXPECT_THAT(error.text, ::testing::EndsWith("another living program writes there"));
}

}  // namespace
}  // namespace muster::checkpoint
