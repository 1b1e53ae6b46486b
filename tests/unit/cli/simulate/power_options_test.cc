#include "cli/simulate/power_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/simulate/named_words.h"
#include "scheduler/model/settings/power_class.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(PowerOptions, AllNodesAreOneClassWithWhatWasSaidAndTheDefaults) {
  const auto kind =
      ParsePower("idle=10m,boot=90s,busy-watts=350,idle-watts=150,off-watts=10,rate=5");
  ASSERT_TRUE(kind.ok()) << kind.status();
  EXPECT_EQ(kind->nodes, "ALL");
  EXPECT_EQ(kind->idle, std::chrono::minutes(10));
  EXPECT_EQ(kind->boot_time, std::chrono::seconds(90));
  EXPECT_EQ(kind->suspend_time, PowerClass().suspend_time);
  EXPECT_GT(kind->resume_timeout, kind->boot_time) << "every boot succeeds";
  EXPECT_EQ(kind->busy_watts, 350U);
  EXPECT_EQ(kind->keep_on, 0U);
  EXPECT_EQ(kind->rate, 5U);
}

TEST(PowerOptions, ABootOrAShutdownThatTakesNoTimeIsRefused) {
  EXPECT_THAT(std::string(ParsePower("idle=10m,boot=0").status().message()),
              HasSubstr("takes a while to boot"));
  EXPECT_THAT(std::string(ParsePower("idle=10m,suspend=0").status().message()),
              HasSubstr("takes a while to shut down"));
}

TEST(PowerOptions, WordsAreNamedOnceAndTheirValuesAreWhatTheyShouldBe) {
  const auto words = ReadWords("a=1,b=2m", {"a", "b", "c"});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(*NumberOf(*words, "a", 9, 0), 1U);
  EXPECT_EQ(*NumberOf(*words, "c", 9, 7), 7U);
  EXPECT_EQ(*SecondsOf(*words, "b", 0), 120);
  EXPECT_EQ(*SecondsOf(*words, "c", 5), 5);
  EXPECT_THAT(std::string(NumberOf(*words, "b", 9, 0).status().message()),
              HasSubstr("b: \"2m\" is not a whole number from 0 to 9"));
  EXPECT_FALSE(ReadWords("a=1,a=2", {"a"}).ok());
  EXPECT_FALSE(ReadWords("a=", {"a"}).ok());
  EXPECT_FALSE(ReadWords("", {"a"}).ok());
}

}  // namespace
}  // namespace muster::cli
