#include "agent/attempts/supervisor_starts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

// With a program that only says how it was started, and cannot be prepared.
class SupervisorStartsTest : public ::testing::Test {
 protected:
  SupervisorStartsTest() : log_(clock_, open("/dev/null", O_WRONLY), LogLevel::kError, false) {
    std::ofstream(program_) << "#!/bin/sh\necho \"$1\" >> " << temp_ / "said"
                            << "\nexit 3\n";
    EXPECT_EQ(chmod(program_.c_str(), 0700), 0);
    EXPECT_EQ(mkdir(directory_.path().c_str(), 0700), 0);
  }
  // Starts one and waits for its end.
  std::string Start(SupervisorStarts& starts, const char* what) {
    const absl::StatusOr<pid_t> pid = starts.Start(directory_, what);
    EXPECT_TRUE(pid.ok()) << pid.status();
    for (int i = 0; i < 2000; ++i) {
      children_.Reap();
      if (std::optional<std::string> end = children_.TakeEnd(*pid); end.has_value()) {
        return *end;
      }
      usleep(5000);
    }
    return "";
  }

  const TempDirectory temp_;
  const SystemClock clock_;
  const Logger log_;
  const std::string program_ = temp_ / "supervisor";
  const AttemptDirectory directory_{temp_ / "1.1"};
  Children children_;
};

TEST_F(SupervisorStartsTest, AProgramThatCannotBePreparedIsExecutedEachTime) {
  SupervisorStarts starts(clock_, log_, children_,
                          {.program = program_, .environment = {}, .path_bytes = 100});
  EXPECT_EQ(Start(starts, "--dir"), "exited with code 3");
  for (int i = 0; i < 2000 && !absl::StrContains(ReadFile(temp_ / "said").value_or(""), "prepared");
       ++i) {
    usleep(5000);
  }
  usleep(100'000);  // by then the one that was to be prepared has ended
  EXPECT_EQ(Start(starts, "--epilog"), "exited with code 3");
  EXPECT_EQ(Start(starts, "--dir"), "exited with code 3");
  std::vector<std::string> said = absl::StrSplit(ReadFile(temp_ / "said").value(), '\n');
  ASSERT_EQ(said.size(), 5U);
  std::sort(said.begin(), said.begin() + 2);  // those two run beside each other
  EXPECT_EQ(said, (std::vector<std::string>{"--dir", "--prepared", "--epilog", "--dir", ""}))
      << "and is not prepared again and again";
}

TEST_F(SupervisorStartsTest, ThePreparedOneHasEndedOnceItsStartsAreOver) {
  std::ofstream(program_) << "#!/bin/sh\n[ \"$1\" = --prepared ] || exit 3\necho $$ > "
                          << temp_ / "pid.new"
                          << " && mv " << temp_ / "pid.new"
                          << " " << temp_ / "pid"
                          << "\nexec sleep 1000\n";
  absl::StatusOr<ProcessIdentity> prepared = absl::UnavailableError("it is not there yet");
  {
    SupervisorStarts starts(clock_, log_, children_,
                            {.program = program_, .environment = {}, .path_bytes = 100});
    EXPECT_EQ(Start(starts, "--dir"), "exited with code 3");
    for (int i = 0; i < 2000 && !prepared.ok(); ++i) {
      usleep(5000);
      pid_t pid = 0;
      if (absl::SimpleAtoi(ReadFile(temp_ / "pid").value_or(""), &pid)) {
        prepared = ReadIdentity(pid);
      }
    }
    ASSERT_TRUE(prepared.ok());
    EXPECT_TRUE(IsAlive(*prepared).value());
  }
  EXPECT_FALSE(IsAlive(*prepared).value());
}

TEST_F(SupervisorStartsTest, AProgramThatIsNotThereIsAnError) {
  SupervisorStarts starts(clock_, log_, children_,
                          {.program = "/nonexistent", .environment = {}, .path_bytes = 100});
  EXPECT_FALSE(starts.Start(directory_).ok());
}

}  // namespace
}  // namespace muster::agent
