#include "daemon/controller/alerts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/replay/replay_report.h"
#include "scheduler/core/plan/planner.h"
#include "tests/unit/daemon/controller/controller_rig.h"

namespace muster::daemon {
namespace {

using testing::ControllerTest;
using testing::kPatience;

// A planner with a defect: it starts nothing.
Plan StartNothing(std::shared_ptr<const Snapshot> snapshot, const SchedulerConfig& config,
                  core::PlannerMemory& /*memory*/) {
  Plan plan = core::MakePlan(*snapshot, config);
  std::vector<LeftWaiting> waiting;
  for (const PlannedStart& start : plan.starts) {
    LeftWaiting& left = waiting.emplace_back();
    left.job = start.job;
    left.reason.kind = ReasonKind::kResources;
  }
  plan.waiting.insert(plan.waiting.begin(), waiting.begin(), waiting.end());
  plan.starts.clear();
  plan.hash += 1;
  return plan;
}

class AlertsTest : public ControllerTest {
 protected:
  // The alert about the job, once there is one.
  std::string AwaitAlert(JobId job) {
    std::string text;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      Submit(absl::StrCat("another-", ++others_));  // which makes another cycle
      text = Seen<std::string>([job](const StateView& view) { return view.AlertOf(job); });
      if (!text.empty()) {
        return text;
      }
      usleep(5000);
    }
    return "";
  }

  // The bundle that the alert names, once it is written.
  absl::StatusOr<BundleReplay> AwaitBundle(const std::string& alert) {
    const std::size_t begin = alert.find(directory_);
    if (begin == std::string::npos) {
      return absl::NotFoundError("the alert names no bundle");
    }
    const std::string path = alert.substr(begin, alert.find(' ', begin) - begin);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!std::filesystem::exists(path) && std::chrono::steady_clock::now() < deadline) {
      usleep(1000);
    }
    return ReplayBundleFile(path);
  }

  int others_ = 0;
};

TEST_F(AlertsTest, AJobThatThePlannerOverlooksIsToldOfWithABundleThatShowsIt) {
  Close();
  planner_ = StartNothing;
  Open();
  Register();
  const JobId job = Submit("overlooked");
  const std::string alert = AwaitAlert(job);
  EXPECT_TRUE(absl::StrContains(alert,
                                "it fits on idle resources of node1, and 3 cycles in a row "
                                "left it waiting"))
      << alert;
  const absl::StatusOr<BundleReplay> replay = AwaitBundle(alert);
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->nodes, 1U);
  EXPECT_FALSE(replay->same());  // the planner here has no such defect
  ASSERT_FALSE(replay->overlooked.empty());
  EXPECT_EQ(replay->overlooked.front().job, job);
  EXPECT_EQ(replay->overlooked.front().nodes, std::vector<std::string>{"node1"});
  EXPECT_FALSE(replay->overlooked.front().still);
  EXPECT_TRUE(absl::StrContains(PrintReplay(*replay), "job 1 fits on node1; the plan says: "))
      << PrintReplay(*replay);
}

TEST_F(AlertsTest, AJobThatStartsAfterAllIsForgotten) {
  core::Watchdog watchdog;
  Alerts alerts(directory_ + "/alerts", log_);
  const auto name_of = [](NodeId) { return std::string("node1"); };
  OverlookedJob job{JobId(7), {NodeId(1)}, clock_.Now()};
  std::optional<std::string> path;
  for (std::uint64_t cycle = 0; cycle <= core::Watchdog::kPatience; ++cycle) {
    EXPECT_FALSE(path.has_value());
    EXPECT_EQ(alerts.TextOf(JobId(7)), "");
    job.since += core::Watchdog::kPatienceTime;
    path = alerts.ReportOverlooked({job}, Version(10 + cycle), name_of);
  }
  EXPECT_EQ(path, directory_ + "/alerts/cycle-000000000012.bundle");
  EXPECT_NE(alerts.TextOf(JobId(7)), "");
  EXPECT_EQ(alerts.ReportOverlooked({job}, Version(20), name_of), std::nullopt)
      << "it was told of already";
  EXPECT_EQ(alerts.ReportOverlooked({}, Version(21), name_of), std::nullopt);
  EXPECT_EQ(alerts.TextOf(JobId(7)), "");
}

TEST_F(AlertsTest, OnlyTheNewestBundlesAreKept) {
  const std::string directory = directory_ + "/alerts";
  for (int version = 1; version <= 20; ++version) {
    // Controllers of before wrote "pass".
    ASSERT_TRUE(
        WriteReplayBundle(absl::StrCat(directory, version < 8 ? "/pass" : "/cycle", "-0000000000",
                                       version < 10 ? "0" : "", version, ".bundle"),
                          ReplayBundle())
            .ok());
  }
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++left;
  }
  EXPECT_EQ(left, kBundlesKept);
  EXPECT_FALSE(std::filesystem::exists(directory + "/pass-000000000004.bundle"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/pass-000000000005.bundle"));
}

TEST_F(AlertsTest, AFileThatIsNoBundleIsRefusedInOneLine) {
  const std::string path = directory_ + "/notes";
  std::ofstream(path) << "buy milk\n";
  EXPECT_TRUE(absl::StrContains(ReadReplayBundle(path).status().message(),
                                "notes: not a replay bundle, or cut short; name one"));
  const std::string cut = directory_ + "/cut.bundle";
  ReplayBundle bundle;
  bundle.program = std::string(100, 'x');
  ASSERT_TRUE(WriteReplayBundle(cut, bundle).ok());
  std::filesystem::resize_file(cut, 40);
  EXPECT_TRUE(absl::StrContains(ReadReplayBundle(cut).status().message(), "cut short"));
}

}  // namespace
}  // namespace muster::daemon
