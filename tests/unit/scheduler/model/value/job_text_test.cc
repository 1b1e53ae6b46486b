#include "scheduler/model/value/job_text.h"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

TEST(JobText, PrintableTextUpToItsLimitIsTaken) {
  EXPECT_TRUE(CheckJobText("--comment", "größer, 3 µs", 20).ok());
  EXPECT_TRUE(CheckJobText("--comment", std::string(20, 'x'), 20).ok());
  EXPECT_FALSE(CheckJobText("--comment", std::string(21, 'x'), 20).ok());
}

TEST(JobText, EveryControlCharacterIsRefusedWithItsOption) {
  for (int byte = 0; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    const bool control = byte < 32 || byte == 127;
    EXPECT_EQ(HasControl(text), control) << byte;
    const absl::Status status = CheckJobText("--job-name", text, kJobNameBytesMax);
    EXPECT_EQ(status.ok(), !control) << byte;
    EXPECT_EQ(std::string(status.message()).starts_with("--job-name: "), control) << byte;
  }
}

}  // namespace
}  // namespace muster
