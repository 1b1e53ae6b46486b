#include "cli/checkpoint/checkpoint_usage.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "cli/checkpoint/ledger.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class CheckpointUsageTest : public ::testing::Test {
 protected:
  absl::StatusOr<int> Admit(const std::string& directory, const std::string& bytes) {
    const Environment environment({"MUSTER_CHECKPOINT_LEDGER=" + (place_ / "ledger"),
                                   "MUSTER_JOB_ID=7", "MUSTER_CLUSTER_NAME=blue",
                                   "MUSTER_CHECKPOINT_QUOTA=1000"});
    const std::vector<Verb> verbs;
    const Invocation invocation{
        environment, verbs, {{"bytes", bytes}, {"kept", "0,0"}}, {"admit", directory}};
    testing::internal::CaptureStdout();
    const absl::StatusOr<int> code = CheckpointAdmit(invocation);
    said_ = testing::internal::GetCapturedStdout();
    return code;
  }
  const TempDirectory place_;
  std::string said_;
};

TEST_F(CheckpointUsageTest, AnAdmittedCheckpointIsInTheLedgerWithItsJob) {
  std::filesystem::create_directory(place_ / "kept");
  ASSERT_TRUE(Admit(place_ / "kept", "900").ok());
  EXPECT_EQ(said_, "yes\n");
  const absl::StatusOr<LedgerPage> page = ReadLedger(place_ / "ledger");
  ASSERT_EQ(page->entries.size(), 1U);
  EXPECT_EQ(page->entries[0].job, 7U);
  EXPECT_EQ(page->entries[0].bytes, 900U);
  EXPECT_EQ(page->quota.bytes.value(), 1000U);
  ASSERT_TRUE(Admit(place_ / "kept", "1100").ok());
  EXPECT_THAT(said_, HasSubstr("no over quota: 1.1 KiB more, 0 B kept, 1000 B allowed"));
}

TEST_F(CheckpointUsageTest, ADirectoryThatIsNotThereIsNamed) {
  EXPECT_THAT(std::string(Admit(place_ / "none", "9").status().message()), HasSubstr("/none\": "));
  EXPECT_FALSE(Admit(place_.path(), "many").ok());
}

}  // namespace
}  // namespace muster::cli
