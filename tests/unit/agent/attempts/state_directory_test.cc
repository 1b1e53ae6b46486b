#include "agent/attempts/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using testing::ElementsAre;

TEST(StateDirectoryTest, TheInstanceIsMadeOnce) {
  const TempDirectory temp;
  const std::string first = StateDirectory::Open(temp / "agent")->instance();
  EXPECT_EQ(first.size(), 32U);
  EXPECT_EQ(StateDirectory::Open(temp / "agent")->instance(), first);
  EXPECT_NE(StateDirectory::Open(temp / "other")->instance(), first);
}

TEST(StateDirectoryTest, TheEpochIsKeptAndNeverFalls) {
  const TempDirectory temp;
  {
    StateDirectory state = StateDirectory::Open(temp / "agent").value();
    EXPECT_EQ(state.epoch(), Epoch(0));
    EXPECT_TRUE(state.RaiseEpoch(Epoch(7)).ok());
    EXPECT_TRUE(state.RaiseEpoch(Epoch(3)).ok());
  }
  EXPECT_EQ(StateDirectory::Open(temp / "agent")->epoch(), Epoch(7));
}

TEST(StateDirectoryTest, ADamagedEpochIsNotTakenForNone) {
  const TempDirectory temp;
  ASSERT_TRUE(StateDirectory::Open(temp / "agent").ok());
  ASSERT_TRUE(WriteFileAtomically(temp / "agent/epoch", "x").ok());
  EXPECT_FALSE(StateDirectory::Open(temp / "agent").ok());
}

TEST(StateDirectoryTest, ASecondOwnerIsRefused) {
  const TempDirectory temp;
  const StateDirectory state = StateDirectory::Open(temp / "agent").value();
  EXPECT_TRUE(absl::IsFailedPrecondition(StateDirectory::Open(temp / "agent").status()));
}

TEST(StateDirectoryTest, ABootIsForeignUntilItIsConfirmed) {
  const TempDirectory temp;
  {
    StateDirectory state = StateDirectory::Open(temp / "agent").value();
    EXPECT_TRUE(state.rebooted());
    EXPECT_TRUE(state.ConfirmBoot().ok());
    EXPECT_FALSE(state.rebooted());
  }
  EXPECT_FALSE(StateDirectory::Open(temp / "agent")->rebooted());
  ASSERT_TRUE(WriteFileAtomically(temp / "agent/boot", "another\n").ok());
  EXPECT_TRUE(StateDirectory::Open(temp / "agent")->rebooted());
}

TEST(StateDirectoryTest, AttemptsAreMadeOnceListedAndRemoved) {
  const TempDirectory temp;
  StateDirectory state = StateDirectory::Open(temp / "agent").value();
  const AttemptKey two{JobId(2), AttemptNumber(1)};
  const AttemptKey ten{JobId(10), AttemptNumber(3)};
  EXPECT_TRUE(state.MakeAttempt(ten).ok());
  EXPECT_TRUE(state.MakeAttempt(two).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(state.MakeAttempt(two)));
  std::filesystem::create_directory(temp / "agent/attempts/other");
  EXPECT_THAT(state.ListAttempts().value(), ElementsAre(two, ten));
  struct stat info = {};
  ASSERT_EQ(stat(state.Attempt(two).path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_TRUE(state.RemoveAttempt(two).ok());
  EXPECT_THAT(state.ListAttempts().value(), ElementsAre(ten));
  EXPECT_TRUE(std::filesystem::is_empty(temp / "agent/trash"));
}

}  // namespace
}  // namespace muster::agent
