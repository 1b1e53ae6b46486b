#include "cli/service/replica/replica_note.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(ReplicaNoteTest, WhatIsWrittenIsReadBack) {
  const ReplicaNote note{kReplicaReady, 2, 5, "fe80::1", {{"http", 4001}, {"metrics", 65535}}};
  EXPECT_EQ(ReadNote(NoteText(note)), note);
  const ReplicaNote early{.state = kReplicaStarting};
  EXPECT_EQ(ReadNote(NoteText(early)), early);
}

TEST(ReplicaNoteTest, ANoteThatAPersonWroteIsNone) {
  for (const char* text : {"", "replica", "replica of the old one", "ready", "replica ready host",
                           "replica ready port:http=70000", "replica ready starts=-1"}) {
    EXPECT_FALSE(ReadNote(text).has_value()) << text;
  }
}

TEST(ReplicaNoteTest, AWordOfALaterVersionIsPassedOver) {
  EXPECT_EQ(ReadNote("replica ready restarts=1 load=3"),
            (ReplicaNote{.state = kReplicaReady, .restarts = 1}));
}

}  // namespace
}  // namespace muster::cli
