#include "cli/parse/request/warning_signal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace muster::cli {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::StartsWith;

TEST(WarningSignal, TakesSlurmsForms) {
  EXPECT_EQ(ParseWarningSignal("USR1").value(), (WarningSignal{SIGUSR1, minutes(1), false, false}));
  EXPECT_EQ(ParseWarningSignal("10@300").value(), (WarningSignal{10, seconds(300), false, false}));
  EXPECT_EQ(ParseWarningSignal("B:SIGTERM@0").value(),
            (WarningSignal{SIGTERM, seconds(0), false, true}));
  EXPECT_EQ(ParseWarningSignal("R:USR2@65535").value(),
            (WarningSignal{SIGUSR2, seconds(65535), false, false}));
}

TEST(WarningSignal, TakesTimesWithUnitsAndTheMeasure) {
  EXPECT_EQ(ParseWarningSignal("USR1@5m").value().before, minutes(5));
  EXPECT_EQ(ParseWarningSignal("USR1@1:30").value().before, seconds(90));
  EXPECT_EQ(ParseWarningSignal("B:usr1@auto").value(),
            (WarningSignal{SIGUSR1, minutes(1), true, true}));
}

TEST(WarningSignal, RefusesWhatIsNoneInOneLine) {
  for (const char* wrong :
       {"", "@60", "B:", "B:@60", "USR1@", "USR1@soon", "USR1@-5", "K:USR1", "0", "65",
        "USR1@60@60", "USR1@400d", "USR1@99999999999999999999", "BR:USR1", "USR1:60"}) {
    const auto refused = ParseWarningSignal(wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(std::string(refused.status().message()), StartsWith("\"")) << wrong;
    EXPECT_EQ(refused.status().message().find('\n'), std::string::npos) << wrong;
  }
}

TEST(WarningSignal, WhateverIsAcceptedIsPossible) {
  EXPECT_TRUE(rc::check([] {
    const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "B:", "R:", "USR1", "TERM", "@", "auto", "5m", "7", ":", "-", "x"));
    std::string text;
    for (const std::string& part : parts) {
      text += part;
    }
    const absl::StatusOr<WarningSignal> warning = ParseWarningSignal(text);
    if (warning.ok()) {
      RC_ASSERT(warning->signal >= 1U);
      RC_ASSERT(warning->signal <= 64U);
      RC_ASSERT(warning->before >= Duration(0));
      RC_ASSERT(warning->batch == (text.substr(0, 2) == "B:"));
      RC_ASSERT(warning->automatic == (text.find("@auto") != std::string::npos));
    }
  }));
}

}  // namespace
}  // namespace muster::cli
