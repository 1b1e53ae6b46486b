#include "cli/checkpoint/checkpoint_carry.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

TEST(CheckpointCarryTest, ADirectoryHasItsOwnNameAtThePlace) {
  EXPECT_EQ(ObjectPlaceOf("s3:bucket", "/home/ada/muster-7.checkpoint"),
            "s3:bucket/muster-7.checkpoint");
  EXPECT_EQ(ObjectPlaceOf("alias:", "state/"), "alias:state");
}

TEST(CheckpointCarryTest, WhatIsNotedIsReadAndWhatIsNoNoteIsNone) {
  const TempDirectory directory;
  EXPECT_TRUE(ReadCarryNote(directory.path()).place.empty());
  CarryNote note{"s3:bucket/state", 12, Time(Duration(5)), "no \"room\""};
  std::ofstream(directory / "object.json") << PrintCarryNote(note);
  const CarryNote read = ReadCarryNote(directory.path());
  EXPECT_EQ(read.place, note.place);
  EXPECT_EQ(read.generation, 12U);
  EXPECT_EQ(read.copied, note.copied);
  EXPECT_EQ(read.error, note.error);
  std::ofstream(directory / "object.json") << R"({"place": 3})";
  EXPECT_TRUE(ReadCarryNote(directory.path()).place.empty());
}

}  // namespace
}  // namespace muster::cli
