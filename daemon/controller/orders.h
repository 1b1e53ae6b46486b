#pragma once

// From effects to orders: fills in what the node needs to know and what only the store still has.
//
// Prepare on the controller's thread, at the moment of the transition; Complete on the sending
// thread, once the events are durable. Thread promise: Prepare, Learn and Forget by the owner;
// Complete by any thread. Invariants: an order names the epoch and expires; the cache of programs
// is bounded.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include "absl/status/statusor.h"
#include "daemon/controller/job_secrets.h"
#include "daemon/store/job_store.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::daemon {

// How long an order is good for: a node whose clock is off by more refuses it, and says so.
inline constexpr Duration kOrderLife = std::chrono::seconds(120);

using Order = std::variant<LaunchOrder, StepOrder, TerminateOrder, Acknowledge, SuspendOrder,
                           HealthOrder, SignalOrder, AttachOrder, AdviceOrder, LayoutOrder>;

struct PreparedOrder {
  NodeId node;
  Order order;
  std::shared_ptr<const Program> program;  // of a launch or a step; null: read it from the store
};

class Orders {
 public:
  Orders(JobStore& store, std::string cluster, JobSecrets secrets = {})
      : store_(store), cluster_(std::move(cluster)), secrets_(std::move(secrets)) {}

  // Nothing for Replan and SwitchPower, and for what the state no longer knows.
  std::optional<PreparedOrder> Prepare(const core::ClusterState& state, const Effect& effect,
                                       Time now, const SchedulerConfig& config) const;
  // Puts the program in. NotFound when the store has none: then the job cannot be launched.
  absl::Status Complete(PreparedOrder& prepared) const;

  // Keeps the program of a new submission or step at hand, among the newest.
  void Learn(const Event& event);

 private:
  using Key = std::string;
  static Key KeyOf(JobId job, StepId step);
  [[nodiscard]] std::optional<PreparedOrder> PrepareLayout(const core::ClusterState& state,
                                                           const DivideGpu& divide) const;
  [[nodiscard]] std::optional<PreparedOrder> PrepareLaunch(const core::ClusterState& state,
                                                           const Launch& launch, Time now,
                                                           const SchedulerConfig& config) const;
  [[nodiscard]] std::optional<PreparedOrder> PrepareStep(const core::ClusterState& state,
                                                         const LaunchStep& launch, Time now) const;
  [[nodiscard]] std::shared_ptr<const Program> Find(const Key& key) const;
  void Keep(Key key, const Program& program);

  static constexpr std::size_t kProgramsMax = 4096;
  static constexpr std::size_t kProgramBytesKept = std::size_t{64} << 20;
  JobStore& store_;
  const std::string cluster_;
  const JobSecrets secrets_;
  std::deque<Key> order_;
  std::unordered_map<Key, std::shared_ptr<const Program>> programs_;
  std::size_t bytes_ = 0;  // of programs_
};

}  // namespace muster::daemon
