#include "scheduler/runtime/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

// 2026-03-14 09:26:53.589 UTC.
constexpr Time kPiDay =
    std::chrono::sys_days(std::chrono::year(2026) / 3 / 14) + std::chrono::milliseconds(34'013'589);

// What a logger of `threshold` wrote while `write` ran.
template <class Write>
std::string Logged(LogLevel threshold, const Write& write) {
  const TempDirectory directory;
  std::string path = directory / "log.XXXXXX";
  const UniqueFd fd(mkstemp(path.data()));
  const ManualClock clock(kPiDay);
  const Logger log(clock, fd.get(), threshold, /*colour=*/false);
  write(log);
  return ReadFile(path).value();
}

TEST(Log, ALineHasTimeLevelComponentAndMessage) {
  EXPECT_EQ(Logged(LogLevel::kInfo, [](const Logger& log) { log.Info("agent", "ready"); }),
            "2026-03-14T09:26:53.589Z info  agent: ready\n");
}

TEST(Log, LinesBelowTheThresholdAreNotWritten) {
  const std::string text = Logged(LogLevel::kWarning, [](const Logger& log) {
    log.Debug("a", "one");
    log.Info("a", "two");
    log.Warning("a", "three");
    log.Error("a", "four");
    EXPECT_FALSE(log.Enabled(LogLevel::kInfo));
    EXPECT_TRUE(log.Enabled(LogLevel::kWarning));
  });
  EXPECT_EQ(text.find("one"), std::string::npos);
  EXPECT_EQ(text.find("two"), std::string::npos);
  EXPECT_NE(text.find("three"), std::string::npos);
  EXPECT_NE(text.find("four"), std::string::npos);
}

TEST(Log, ANewlineInAMessageCannotForgeALine) {
  const std::string text = Logged(LogLevel::kInfo, [](const Logger& log) {
    log.Info("jobs", "name: x\n2026-03-14T09:26:53.589Z info  agent: all is well");
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Log, AMessageIsCutAtEightKibibytes) {
  const std::string line =
      FormatLogLine(kPiDay, LogLevel::kInfo, "c", std::string(10'000, 'x'), /*colour=*/false);
  EXPECT_LT(line.size(), 8'400U);
  EXPECT_NE(line.find("1808 bytes more"), std::string::npos);
}

TEST(Log, ColourSurroundsOnlyTheLevel) {
  EXPECT_EQ(FormatLogLine(kPiDay, LogLevel::kError, "c", "m", /*colour=*/true),
            "2026-03-14T09:26:53.589Z \x1b[31merror\x1b[0m c: m");
}

TEST(Log, LevelsAreKnownByName) {
  EXPECT_EQ(ParseLogLevel("debug", LogLevel::kInfo), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("warning", LogLevel::kInfo), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("error", LogLevel::kInfo), LogLevel::kError);
  EXPECT_EQ(ParseLogLevel("loud", LogLevel::kInfo), LogLevel::kInfo);
}

TEST(Log, LinesOfManyThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const std::string text = Logged(LogLevel::kInfo, [](const Logger& log) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kLines; ++i) {
          log.Info("t", std::string(50, static_cast<char>('a' + t)));
        }
      });
    }
  });
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  ASSERT_EQ(lines.size(), static_cast<size_t>(kThreads * kLines));
  for (const std::string& line : lines) {
    const std::string message = line.substr(line.size() - 50);
    EXPECT_EQ(message, std::string(50, message[0])) << line;
  }
}

}  // namespace
}  // namespace muster
