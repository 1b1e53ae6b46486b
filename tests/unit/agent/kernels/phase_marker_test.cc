#include "agent/kernels/harness/phase_marker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/timeline.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

Json Document(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
}

class PhaseMarkerTest : public ::testing::Test {
 protected:
  // A file of each test's own: tests run in parallel.
  std::string path_ = ::testing::TempDir() + "/phase_marker_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(PhaseMarkerTest, TheFileIsWholeAfterEachPhase) {
  PhaseMarker marker(path_, 3);
  ASSERT_TRUE(marker.on());
  ASSERT_EQ(Document(path_).size(), 1U);
  EXPECT_EQ(Document(path_)[0]["ph"], "M");
  EXPECT_EQ(Document(path_)[0]["pid"], 3);
  EXPECT_EQ(Document(path_)[0]["args"]["name"].get<std::string>().rfind("rank 3 on ", 0), 0U);
  { const auto phase = marker.Phase("compute"); }
  EXPECT_EQ(Document(path_).size(), 2U);
  {
    const auto outer = marker.Phase("exchange");
    const auto inner = marker.Phase("wait");
  }
  Json events = Document(path_);
  ASSERT_EQ(events.size(), 4U);
  events.erase(0);
  EXPECT_EQ(events[0]["name"], "compute");
  EXPECT_EQ(events[0]["ph"], "X");
  EXPECT_EQ(events[0]["pid"], 3);
  EXPECT_EQ(events[1]["name"], "wait") << "the inner phase ends first";
  EXPECT_GE(events[1]["ts"].get<double>(), events[2]["ts"].get<double>());
  EXPECT_LE(events[1]["dur"].get<double>(), events[2]["dur"].get<double>());
}

TEST_F(PhaseMarkerTest, NamesCannotBreakTheDocument) {
  PhaseMarker marker(path_);
  { const auto phase = marker.Phase("a\"b\\c\nd"); }
  EXPECT_EQ(Document(path_)[1]["name"], "a?b?c?d");
}

TEST_F(PhaseMarkerTest, ThreadsMarkAtOnce) {
  PhaseMarker marker(path_);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&marker] {
      for (int j = 0; j < 100; ++j) {
        const auto phase = marker.Phase("work");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(Document(path_).size(), 401U);
}

TEST_F(PhaseMarkerTest, EachRankWritesItsOwnFile) {
  const PhaseMarker marker(::testing::TempDir() + "/phase_marker_%r.json", 5);
  EXPECT_TRUE(std::ifstream(::testing::TempDir() + "/phase_marker_5.json").good());
}

TEST_F(PhaseMarkerTest, TheRankIsTheLaunchersUnlessItIsGiven) {
  setenv("SLURM_PROCID", "0", 1);  // of the job's script, from which a launcher is started
  setenv("PMIX_RANK", "7", 1);
  const PhaseMarker marker(::testing::TempDir() + "/phase_marker_of_%r.json");
  EXPECT_TRUE(std::ifstream(::testing::TempDir() + "/phase_marker_of_7.json").good());
  unsetenv("PMIX_RANK");
  EXPECT_EQ(RankOfLauncher(), 0);
  unsetenv("SLURM_PROCID");
  EXPECT_EQ(RankOfLauncher(), 0);
}

TEST_F(PhaseMarkerTest, TimesAreThoseOfTheWallClock) {
  const auto now = [] {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(since).count();
  };
  PhaseMarker marker(path_);
  const double before = now();
  { const auto phase = marker.Phase("work"); }
  const double after = now();
  const double begin = Document(path_)[1]["ts"].get<double>();
  // The two clocks are not read at one instant, and a clock may be set meanwhile.
  EXPECT_GT(begin, before - 1e6);
  EXPECT_LT(begin, after + 1e6);
}

TEST_F(PhaseMarkerTest, WithoutAPathNothingIsMarked) {
  PhaseMarker marker("");
  { const auto phase = marker.Phase("work"); }
  EXPECT_FALSE(marker.on());
  EXPECT_FALSE(marker.failed());
  EXPECT_TRUE(PhaseMarker("/nowhere/at/all.json").failed());
}

TEST_F(PhaseMarkerTest, OperationsRunAsTheyAreAndAreMarked) {
  PhaseMarker marker(path_);
  kernels::Operation operation;
  operation.name = "triad";
  operation.run = [] { return 2.5; };
  const std::vector<kernels::Operation> marked = kernels::Marked({operation}, &marker);
  EXPECT_EQ(marked.front().run(), 2.5);
  EXPECT_EQ(Document(path_)[1]["name"], "triad");
}

}  // namespace
}  // namespace muster
