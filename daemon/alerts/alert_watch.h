#pragma once

// Looks at everything that rules of alerts judge, and has the state's alerts be those that last.
//
// While the controller leads. The loop gives what it knows in two short looks, of which the second
// is for jobs of which the newest plan says something bad; the rules are judged beside the loop.
// Thread promise: construction and destruction are main's, Use any thread's; the work has a thread
// of its own. Invariants: (1) nothing is written while no alert begins or ends; (2) a controller
// that begins to lead goes on with the alerts that it finds.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/agents/live_usage.h"
#include "daemon/alerts/warnings.h"
#include "daemon/controller/controller.h"
#include "scheduler/model/change/alert.h"
#include "scheduler/runtime/log.h"
#include "scheduler/settings/alerts/alert_judge.h"

namespace muster::daemon {

class AlertWatch {
 public:
  static constexpr std::chrono::seconds kLookEvery{10};
  static constexpr std::size_t kJobsMost = 1000;  // waiting jobs that are looked at closely

  // All that is referred to outlives it.
  AlertWatch(Controller& controller, const LiveUsage& usage, const ControllerWarnings& warnings,
             const Logger& log, AlertSettings rules,
             std::chrono::milliseconds look_every = kLookEvery);
  AlertWatch(const AlertWatch&) = delete;
  AlertWatch& operator=(const AlertWatch&) = delete;
  ~AlertWatch();

  // The rules from the next look on.
  void Use(AlertSettings rules);

 private:
  // What one look at the state found.
  struct Sight {
    Time now = kNoTime;
    Epoch epoch;
    std::vector<Alert> open;  // as the state has them
    std::vector<NodeView> nodes;
    std::vector<JobView> jobs;
    std::vector<BadEnd> ends;
    std::shared_ptr<const Plan> plan;
  };

  void Run();
  void LookOnce();
  static void SeeNode(const StateView& view, const Node& node, const LiveUsage& usage,
                      Sight& sight);
  std::optional<Sight> Look();
  std::vector<JobView> LookAtWaiting(const Sight& sight);
  void Settle(std::vector<Alert> open);

  Controller& controller_;
  const LiveUsage& usage_;
  const ControllerWarnings& warnings_;
  const Logger& log_;
  const std::chrono::milliseconds look_every_;
  AlertJudge judge_;
  Epoch epoch_;  // whose alerts the judge knows
  std::uint64_t ends_seen_ = 0;
  std::mutex mutex_;  // guards the two below
  std::condition_variable wake_;
  std::optional<AlertSettings> others_;  // rules that count from the next look on
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::daemon
