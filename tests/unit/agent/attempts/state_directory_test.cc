#include "agent/attempts/place/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agent/attempts/place/memory_place.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

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

class InMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!FindMemory(0, "").has_value() || geteuid() != 0) {
      GTEST_SKIP() << "no place in memory";
    }
  }
  ~InMemory() override {
    std::error_code error;
    const auto attempts = std::filesystem::read_symlink(temp_ / "agent/attempts", error);
    if (!error) {
      std::filesystem::remove_all(attempts.parent_path());
    }
  }
  absl::StatusOr<StateDirectory> Open() const {
    return StateDirectory::Open(temp_ / "agent", FindMemory(0, "").value());
  }

  const TempDirectory temp_;
  const AttemptKey key_{JobId(2), AttemptNumber(1)};
};

TEST_F(InMemory, AttemptsOutliveTheAgentAndAreFoundAtTheirOldPath) {
  std::string instance;
  {
    StateDirectory state = Open().value();
    instance = state.instance();
    ASSERT_TRUE(state.MakeAttempt(key_).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(temp_ / "agent/attempts"));
    state.Fold();
  }
  StateDirectory state = Open().value();
  EXPECT_EQ(state.instance(), instance);
  EXPECT_THAT(state.ListAttempts().value(), ElementsAre(key_));
  EXPECT_TRUE(std::filesystem::exists(temp_ / "agent/attempts/2.1"));
  ASSERT_TRUE(WriteFileAtomically(state.Attempt(key_).Order(), "x").ok());
  EXPECT_TRUE(state.RemoveAttempt(key_).value());
  EXPECT_FALSE(state.has_trash());
}

TEST_F(InMemory, AnAgentThatStopsWithoutAttemptsLeavesNothingThereAndKeepsItsInstance) {
  std::string instance;
  {
    StateDirectory state = Open().value();
    instance = state.instance();
    state.Fold();
  }
  EXPECT_FALSE(std::filesystem::is_symlink(temp_ / "agent/attempts"));
  EXPECT_EQ(Open().value().instance(), instance);
}

TEST_F(InMemory, RecordsThatAreGoneMakeANewInstanceSoThatNoOrderIsBegunTwice) {
  std::string instance;
  {
    StateDirectory state = Open().value();
    instance = state.instance();
    ASSERT_TRUE(state.MakeAttempt(key_).ok());
    ASSERT_TRUE(state.ConfirmBoot().ok());
  }
  std::filesystem::remove_all(
      std::filesystem::read_symlink(temp_ / "agent/attempts").parent_path());
  StateDirectory state = Open().value();
  EXPECT_NE(state.instance(), instance);
  EXPECT_FALSE(state.loss().empty());
  EXPECT_TRUE(state.ListAttempts().value().empty());
}

TEST_F(InMemory, AttemptsThatLieOnTheDiskStayThere) {
  {
    StateDirectory state = StateDirectory::Open(temp_ / "agent").value();
    ASSERT_TRUE(state.MakeAttempt(key_).ok());
  }
  StateDirectory state = Open().value();
  EXPECT_FALSE(std::filesystem::is_symlink(temp_ / "agent/attempts"));
  EXPECT_THAT(state.ListAttempts().value(), ElementsAre(key_));
}

TEST_F(InMemory, APlaceThatOthersMayWriteIsNotTaken) {
  std::string place;
  {
    StateDirectory state = Open().value();
    ASSERT_TRUE(state.MakeAttempt(key_).ok());
    place = std::filesystem::read_symlink(temp_ / "agent/attempts").string();
  }
  ASSERT_EQ(chmod(place.c_str(), 0777), 0);
  EXPECT_FALSE(Open().ok());
}

}  // namespace
}  // namespace muster::agent
