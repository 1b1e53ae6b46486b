// A month of a cluster whose nodes are checked daily: who is drained, and who is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "scheduler/core/handle/nodes/health_handlers.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using ::testing::HasSubstr;
using testing::World;

// SplitMix64, and normal deviates of it.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}
  double Uniform() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return (static_cast<double>((z ^ (z >> 31U)) >> 11U) + 0.5) * 0x1p-53;
  }
  double Normal() { return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * M_PI * Uniform()); }

 private:
  std::uint64_t state_;
};

struct Component {
  const char* name;
  const char* unit;
  HealthSense sense;
  double nominal;  // thousandths
};
constexpr std::array<Component, 6> kComponents = {{
    {"clock", "GHz", HealthSense::kHigher, 3'400},
    {"memory bandwidth", "GB/s", HealthSense::kHigher, 380'000},
    {"memory latency", "ns", HealthSense::kLower, 110'000},
    {"matrix product", "GFLOP/s", HealthSense::kHigher, 4'100'000},
    {"GPU 0 memory bandwidth", "GB/s", HealthSense::kHigher, 4'200'000},
    {"GPU 0 copy from the host", "GB/s", HealthSense::kHigher, 55'000},
}};

// Nodes of one class that differ by 2 per cent from one another and by 2 per cent from check to
// check; one check in a hundred falls into some minutes in which the node is a third slower.
class Month {
 public:
  explicit Month(std::uint32_t nodes) : chance_(1) {
    config_.health.interval = std::chrono::hours(24);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      Registration registration =
          World::RegistrationOf(absl::StrCat("n", i + 1), {.cores = 64, .gpus = 1});
      registration.hostname = registration.name;
      Take(RegisterAgent{registration});
      std::array<double, kComponents.size()> own{};
      for (double& factor : own) {
        factor = 1 + 0.02 * chance_.Normal();
      }
      nature_.push_back(own);
    }
  }

  // Component `which` of the node is `times` as slow from now on; 1: as it was.
  void Slow(std::uint32_t node, std::size_t which, double times) { slowed_[{node, which}] = times; }

  void Live(Duration time) {
    const Time end = now_ + time;
    for (; now_ < end; now_ += std::chrono::minutes(5)) {
      for (const Effect& effect : Take(TickHealth{}).effects) {
        if (const auto* check = std::get_if<CheckHealth>(&effect)) {
          Take(TakeHealthReport{check->node, Measure(check->node)});
        }
      }
    }
  }

  [[nodiscard]] const Node& NodeAt(std::uint32_t index) const {
    return *state_.FindNode(NodeId(index + 1));
  }
  std::map<NodeId, std::vector<std::string>> drained;  // the reasons
  std::uint64_t checks = 0;
  std::uint64_t suspicions = 0;

 private:
  HealthReport Measure(NodeId id) {
    const std::uint32_t node = id.value() - 1;
    ++checks;
    const bool disturbed = chance_.Uniform() < 0.01;
    HealthReport report;
    report.number = state_.health().Of(id).number;
    for (std::size_t i = 0; i < kComponents.size(); ++i) {
      const Component& component = kComponents[i];
      double speed = nature_[node][i] * (1 + 0.02 * chance_.Normal()) * (disturbed ? 0.67 : 1);
      const auto slowed = slowed_.find({node, i});
      speed /= slowed == slowed_.end() ? 1 : slowed->second;
      const double value = component.sense == HealthSense::kHigher ? component.nominal * speed
                                                                   : component.nominal / speed;
      report.figures.push_back(
          {component.name, component.unit, component.sense, static_cast<std::uint64_t>(value), 0});
    }
    return report;
  }

  Transition Take(const Command& command) {
    Transition transition = Handle(state_, command, now_, config_);
    EXPECT_TRUE(transition.status.ok()) << transition.status;
    for (const Event& event : transition.events) {
      state_.Apply(event);
      if (const auto* drain = std::get_if<NodeDrained>(&event);
          drain != nullptr && drain->drained) {
        drained[drain->node].push_back(drain->reason);
      }
      if (const auto* checked = std::get_if<HealthChecked>(&event)) {
        suspicions += checked->record.status == HealthStatus::kSuspect ? 1 : 0;
      }
    }
    return transition;
  }

  ClusterState state_;
  SchedulerConfig config_;
  Time now_ = testing::At(1'000'000);
  Chance chance_;
  std::vector<std::array<double, kComponents.size()>> nature_;
  std::map<std::pair<std::uint32_t, std::size_t>, double> slowed_;
};

TEST(HealthMonth, NoHealthyNodeOfAThousandIsDrainedInAMonth) {
  Month month(1000);
  month.Live(std::chrono::hours(24 * 30));
  EXPECT_GE(month.checks, 29'000U);
  EXPECT_TRUE(month.drained.empty()) << month.drained.begin()->second.front();
  EXPECT_GT(month.suspicions, 100U) << "the disturbances are seen, and forgiven";
  RecordProperty("checks", static_cast<int>(month.checks));
  RecordProperty("suspicions", static_cast<int>(month.suspicions));
}

TEST(HealthMonth, SlowedNodesAreDrainedForTheirComponentAndComeBackWhenMended) {
  Month month(100);
  month.Live(std::chrono::hours(48));
  for (std::uint32_t i = 0; i < kComponents.size(); ++i) {
    month.Slow(10 * i, i, 1.3);
  }
  month.Live(std::chrono::hours(25));
  EXPECT_EQ(month.drained.size(), kComponents.size());
  for (std::uint32_t i = 0; i < kComponents.size(); ++i) {
    EXPECT_TRUE(month.NodeAt(10 * i).drained);
    EXPECT_THAT(month.NodeAt(10 * i).drain_reason,
                HasSubstr(absl::StrCat("health: ", kComponents[i].name)));
  }
  for (std::uint32_t i = 0; i < kComponents.size(); ++i) {
    month.Slow(10 * i, i, 1);
  }
  month.Live(std::chrono::minutes(30));
  for (std::uint32_t i = 0; i < kComponents.size(); ++i) {
    EXPECT_FALSE(month.NodeAt(10 * i).drained) << kComponents[i].name;
  }
}

TEST(HealthMonth, AChangeThatAllNodesSufferDrainsATenthAtMost) {
  Month month(100);
  month.Live(std::chrono::hours(48));
  for (std::uint32_t i = 0; i < 100; ++i) {
    month.Slow(i, 1, 1.4);
  }
  month.Live(std::chrono::hours(72));
  EXPECT_LE(month.drained.size(), 10U);
}

}  // namespace
}  // namespace muster::core
