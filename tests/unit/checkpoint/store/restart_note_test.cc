#include "checkpoint/store/restart_note.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

class RestartNoteTest : public StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    ASSERT_FALSE(WriteGenerationHere("old", 5).failed());
    at_ = std::move(StoreDirectory::Open(Disk::Real(), directory_.string()).value);
  }
  StoreDirectory at_;
};

TEST_F(RestartNoteTest, WhatIsNotedIsKnownUntilItIsConfirmed) {
  const RestartNote note(at_);
  EXPECT_EQ(note.Noted().value, std::nullopt);
  ASSERT_FALSE(note.Note(1).failed());
  EXPECT_EQ(note.Noted().value, 1U);
  ASSERT_FALSE(note.Confirm().failed());
  EXPECT_EQ(note.Noted().value, std::nullopt);
  EXPECT_FALSE(note.Confirm().failed()) << "there is nothing to confirm";
}

TEST_F(RestartNoteTest, WhatIsStillNotedIsSetAsideOnce) {
  const RestartNote note(at_);
  ASSERT_FALSE(note.Note(1).failed());
  EXPECT_EQ(note.SetAsideFailed().value, 1U);
  EXPECT_TRUE(fs::exists(directory_ / "gen-0000000001.bad"));
  EXPECT_EQ(note.SetAsideFailed().value, std::nullopt);
}

TEST_F(RestartNoteTest, AGenerationThatIsGoneIsForgotten) {
  const RestartNote note(at_);
  ASSERT_FALSE(note.Note(7).failed());
  EXPECT_EQ(note.SetAsideFailed().value, std::nullopt);
  EXPECT_EQ(note.Noted().value, std::nullopt);
  EXPECT_FALSE(note.SetAside(7).value);
}

}  // namespace
}  // namespace muster::checkpoint
