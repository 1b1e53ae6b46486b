#include "agent/kernels/harness/phase_marker.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "agent/kernels/harness/timeline.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

Json Document(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
}

class PhaseMarkerTest : public testing::Test {
 protected:
  // A file of each test's own: tests run in parallel.
  std::string path_ = testing::TempDir() + "/phase_marker_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(PhaseMarkerTest, TheFileIsWholeAfterEachPhase) {
  PhaseMarker marker(path_, 3);
  ASSERT_TRUE(marker.on());
  EXPECT_EQ(Document(path_), Json::array());
  { const auto phase = marker.Phase("compute"); }
  EXPECT_EQ(Document(path_).size(), 1U);
  {
    const auto outer = marker.Phase("exchange");
    const auto inner = marker.Phase("wait");
  }
  const Json events = Document(path_);
  ASSERT_EQ(events.size(), 3U);
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
  EXPECT_EQ(Document(path_)[0]["name"], "a?b?c?d");
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
  EXPECT_EQ(Document(path_).size(), 400U);
}

TEST_F(PhaseMarkerTest, EachRankWritesItsOwnFile) {
  const PhaseMarker marker(testing::TempDir() + "/phase_marker_%r.json", 5);
  EXPECT_TRUE(std::ifstream(testing::TempDir() + "/phase_marker_5.json").good());
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
  EXPECT_EQ(Document(path_)[0]["name"], "triad");
}

}  // namespace
}  // namespace muster
