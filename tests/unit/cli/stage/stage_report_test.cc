#include "cli/stage/stage_report.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

class StageReportTest : public ::testing::Test {
 protected:
  StageReportTest() : door_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(door_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  // What was said last; "" when nothing was.
  [[nodiscard]] std::string Said() const {
    std::array<char, 4096> buffer = {};
    const ssize_t got = recv(door_.get(), buffer.data(), buffer.size(), 0);
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : "";
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "door";
  const UniqueFd door_;
  ManualClock clock_{Time()};
};

TEST_F(StageReportTest, ItTellsBytesOfAllPairsAndHowFastAtMostOnceASecond) {
  StageReport report(path_, clock_);
  report.Tell(10, 100);
  EXPECT_EQ(Said(), "");
  clock_.Advance(std::chrono::seconds(2));
  report.Tell(50, 100);
  EXPECT_EQ(Said(), "stage/bytes=50 stage/total_bytes=100 stage/bytes_each_second=25");
  report.Tell(60, 100);
  EXPECT_EQ(Said(), "");
  report.Tell(100, 100);
  report.EndPair();
  EXPECT_EQ(Said(), "stage/bytes=100 stage/total_bytes=100 stage/bytes_each_second=50");
  clock_.Advance(std::chrono::seconds(2));
  report.Tell(20, 40);
  EXPECT_EQ(Said(), "stage/bytes=120 stage/total_bytes=140 stage/bytes_each_second=30");
}

TEST_F(StageReportTest, OutsideOfAJobItIsSilent) {
  StageReport report("", clock_);
  report.Tell(10, 100);
  report.EndPair();
  EXPECT_EQ(Said(), "");
}

}  // namespace
}  // namespace muster::cli
