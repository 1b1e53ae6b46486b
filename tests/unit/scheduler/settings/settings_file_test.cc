#include "scheduler/settings/settings_file.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

QueueRule OrderOf(const std::string& text) {
  absl::StatusOr<ConfigFile> file = ConfigFile::Parse(text, "muster.toml");
  SchedulerConfig settings = DefaultSettings();
  const absl::Status status = ReadSettings(*file, settings);
  EXPECT_TRUE(status.ok()) << status;
  return settings.priority.order;
}

TEST(SettingsFile, ShortJobsGoFirstByPromisesWhereNothingIsSaid) {
  EXPECT_EQ(DefaultSettings().priority.order, QueueRule::kPrompt);
  EXPECT_EQ(OrderOf(""), QueueRule::kPrompt);
  EXPECT_EQ(OrderOf("[policy]\nslack = \"2h\"\n[priority]\nweight_age = 5\n"), QueueRule::kPrompt);
}

TEST(SettingsFile, WhoSaysHowToBackfillHasTheOrderThatDoes) {
  EXPECT_EQ(OrderOf("[policy]\nbackfill = \"easy\"\n"), QueueRule::kPriority);
  EXPECT_EQ(OrderOf("[policy]\nreservations = 7\n"), QueueRule::kPriority);
  EXPECT_EQ(OrderOf("[policy]\nbackfill = \"easy\"\norder = \"prompt\"\n"), QueueRule::kPrompt);
  EXPECT_EQ(OrderOf("[policy]\norder = \"drf\"\n"), QueueRule::kDrf);
}

}  // namespace
}  // namespace muster
