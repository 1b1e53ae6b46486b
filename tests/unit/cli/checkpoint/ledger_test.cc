#include "cli/checkpoint/ledger.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(LedgerTest, WhatIsWrittenIsReadByTheNext) {
  const TempDirectory directory;
  const std::string place = directory / "a/b";
  const LedgerEntry entry{"/kept/muster-7.checkpoint", "blue", 7, 100, 2, "over quota", 12};
  {
    absl::StatusOr<Ledger> ledger = Ledger::Hold(place);
    ASSERT_TRUE(ledger.ok()) << ledger.status();
    EXPECT_TRUE(ledger->page().entries.empty());
    ledger->page().quota = {.bytes = Bytes(500), .count = 3};
    ledger->Of(entry.directory) = entry;
    ASSERT_TRUE(ledger->Write().ok());
  }
  const absl::StatusOr<LedgerPage> page = ReadLedger(place);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->quota, (CheckpointQuota{.bytes = Bytes(500), .count = 3}));
  EXPECT_THAT(page->entries, ::testing::ElementsAre(entry));
}

TEST(LedgerTest, ADamagedOneIsNamedAndNotWrittenOver) {
  const TempDirectory directory;
  std::ofstream(directory / "ledger.json") << "{\"directories\": 3}";
  const absl::StatusOr<Ledger> ledger = Ledger::Hold(directory.path());
  EXPECT_THAT(std::string(ledger.status().message()), HasSubstr("ledger.json: is no list of"));
}

TEST(LedgerTest, WithoutOneNothingIsKept) {
  const TempDirectory directory;
  EXPECT_TRUE(ReadLedger(directory / "none")->entries.empty());
}

TEST(LedgerTest, ItsPlaceIsTheUsersOwn) {
  EXPECT_EQ(*LedgerPlace(Environment({"HOME=/home/ada"})),
            "/home/ada/.local/share/muster/checkpoints");
  EXPECT_EQ(*LedgerPlace(Environment({"HOME=/home/ada", "XDG_DATA_HOME=/d"})),
            "/d/muster/checkpoints");
  EXPECT_EQ(*LedgerPlace(Environment({"MUSTER_CHECKPOINT_LEDGER=/l"})), "/l");
  EXPECT_FALSE(LedgerPlace(Environment()).ok());
}

}  // namespace
}  // namespace muster::cli
