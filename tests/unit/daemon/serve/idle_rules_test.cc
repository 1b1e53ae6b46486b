#include "daemon/serve/idle_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::daemon {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Time kIdleStart(std::chrono::hours(500'000));

absl::StatusOr<IdleRules> RulesOf(const std::string& text) {
  ConfigFile file = ConfigFile::Parse(text, "m.toml").value();
  IdleRules rules;
  absl::Status read = ReadIdleRules(file, rules);
  read.Update(file.RefuseUnknownKeys());
  return read.ok() ? absl::StatusOr<IdleRules>(rules) : read;
}

TEST(IdleRulesTest, APartitionsTableGoesBeforeTheOneForAll) {
  const auto rules = RulesOf(
      "[idle]\ngpu_below = \"5%\"\nfor = \"30m\"\nthen = \"end\"\n"
      "[idle.dev]\ngpu_below = \"0%\"\n[idle.night]\nfor = \"2h\"\nthen = \"checkpoint\"\n");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_TRUE(rules->on());
  EXPECT_EQ(rules->Of("main").percent, 5);
  EXPECT_EQ(rules->Of("main").action, IdleAction::kEnd);
  EXPECT_EQ(rules->Of("dev").percent, 0);
  EXPECT_EQ(rules->Of("night").percent, 5) << "what it does not say is as for all";
  EXPECT_EQ(rules->Of("night").hold, std::chrono::hours(2));
  EXPECT_EQ(rules->Of("night").action, IdleAction::kCheckpoint);
  EXPECT_FALSE(RulesOf("")->on());
}

TEST(IdleRulesTest, MistakesNameTheirLine) {
  for (const auto& [text, line] : {std::pair("[idle]\ngpu_below = \"5\"\n", "m.toml:2:"),
                                   std::pair("[idle]\ngpu_below = \"500%\"\n", "m.toml:2:"),
                                   std::pair("[idle]\nfor = \"3s\"\n", "m.toml:2:"),
                                   std::pair("\n[idle.a]\nthen = \"kill\"\n", "m.toml:3:"),
                                   std::pair("[idle.a]\ngpu_over = \"5%\"\n", "m.toml:2:"),
                                   std::pair("[idle]\nsometimes = true\n", "m.toml:2:")}) {
    EXPECT_EQ(std::string(RulesOf(text).status().message()).substr(0, 9), line) << text;
  }
}

class IdleJudgeTest : public ::testing::Test {
 protected:
  // The job's two GPUs were busy for so long up to that time.
  static GpuUse Use(std::uint64_t job, Duration time, Duration busy, std::uint32_t attempt = 1) {
    return {JobId(job), AttemptNumber(attempt), "main", 2, busy, kIdleStart + time};
  }
  IdleJudge judge_{RulesOf("[idle]\ngpu_below = \"5%\"\nfor = \"10m\"\n").value()};
};

TEST_F(IdleJudgeTest, AJobIsIdleOnceItHasBeenForAllOfTheTime) {
  EXPECT_THAT(judge_.Look({Use(1, minutes(0), seconds(1))}), IsEmpty());
  EXPECT_THAT(judge_.Look({Use(1, minutes(9), seconds(2))}), IsEmpty());
  const std::vector<IdleJob> idle = judge_.Look({Use(1, minutes(10), seconds(13))});
  ASSERT_THAT(idle, SizeIs(1));
  EXPECT_EQ(idle[0].since, kIdleStart);
  EXPECT_THAT(idle[0].text, HasSubstr("its 2 GPUs were busy for 1.0% of the last 10"));
}

TEST_F(IdleJudgeTest, WorkInBetweenIsWorkAndIsOverSomeTime) {
  for (int minute = 0; minute <= 10; ++minute) {
    const Duration busy = minute < 5 ? seconds(1) : seconds(241);
    EXPECT_THAT(judge_.Look({Use(1, minutes(minute), busy)}), IsEmpty());
  }
  for (int minute = 11; minute < 15; ++minute) {
    EXPECT_THAT(judge_.Look({Use(1, minutes(minute), seconds(241))}), IsEmpty()) << minute;
  }
  EXPECT_THAT(judge_.Look({Use(1, minutes(15), seconds(241))}), SizeIs(1));
}

TEST_F(IdleJudgeTest, WhatIsNotKnownIsNotIdleAndAnotherAttemptBeginsAnew) {
  for (int minute = 0; minute <= 20; ++minute) {
    EXPECT_THAT(
        judge_.Look({Use(1, minutes(minute), Duration(0)),
                     Use(2, minutes(minute), seconds(1), static_cast<std::uint32_t>(minute / 8))}),
        IsEmpty());
  }
}

TEST_F(IdleJudgeTest, AJobThatWasAwayBeginsAnew) {
  judge_.Look({Use(1, minutes(0), seconds(1))});
  judge_.Look({});
  EXPECT_THAT(judge_.Look({Use(1, minutes(30), seconds(1))}), IsEmpty());
}

}  // namespace
}  // namespace muster::daemon
