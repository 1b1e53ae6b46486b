// The failures of a simulated cluster's nodes: what the controller hears of them.
#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/cluster/cluster_replay.h"

namespace muster::sim {
namespace {

// Jobs that wait so long for nodes, while none runs, wait for ever.
constexpr std::int64_t kPatience = std::int64_t{10} * 365 * 86'400;

}  // namespace

absl::Status ClusterReplay::SetUpFailures() {
  double rate = 0;
  for (const NodeClass& alike : run_.nodes) {
    rate += alike.failures.mtbf_s > 0 ? alike.count / alike.failures.mtbf_s : 0;
  }
  node_rate_ = rate / static_cast<double>(nodes_.size());
  faults_ = rate > 0 || run_.failure_log.has_value() || run_.checkpoints.interval > 0;
  if (!faults_) {
    return absl::OkStatus();
  }
  std::map<std::string, std::size_t> numbers;
  for (const SimulatedNode& node : nodes_) {
    const bool logged = run_.failure_log.has_value();
    failures_.AddNode(logged ? FailureLaw() : run_.nodes[node.kind].failures, now_);
    if (logged) {
      numbers[node.name] = numbers.size();
    }
  }
  if (!run_.failure_log.has_value()) {
    return absl::OkStatus();
  }
  for (const LoggedFailure& failure : *run_.failure_log) {
    const auto node = numbers.find(failure.node);
    if (node == numbers.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the log of failures names the node ", failure.node, ", and there are ",
                       nodes_.front().name, " to ", nodes_.back().name, ": mend the log"));
    }
    if (failure.time < now_) {
      ++result_.failures.ignored;
    } else {
      failures_.AddFailure({failure.time, node->second, failure.repair});
    }
  }
  return absl::OkStatus();
}

// Nodes that have shut down, booted, or been repaired by now.
absl::Status ClusterReplay::RepairNodes() {
  while (const std::optional<PowerReplay::Done> done = power_.NextDone(now_)) {
    SimulatedNode& node = nodes_[done->node];
    if (done->on) {
      ++node.boots;
      RETURN_IF_ERROR(RegisterNode(node));
    } else {
      RETURN_IF_ERROR(Take(LoseAgent{node.id}));
    }
  }
  while (!repairs_.empty() && repairs_.top().first <= now_) {
    const std::size_t number = repairs_.top().second;
    repairs_.pop();
    result_.threads.Open(number);
    result_.free_gpus.Open(number);
    RETURN_IF_ERROR(Take(DrainNode{nodes_[number].name, false, ""}));
  }
  return absl::OkStatus();
}

absl::Status ClusterReplay::FailNodes() {
  for (const NodeFailure* failure = failures_.Peek(); failure != nullptr && failure->time <= now_;
       failure = failures_.Peek()) {
    const NodeFailure now = *failure;
    failures_.Pop();
    RETURN_IF_ERROR(Fail(now));
  }
  RETURN_IF_ERROR(ReleaseHeld());
  return CheckProgress();
}

// The node goes down and boots again, which ends what ran there; an operator keeps it drained until
// it is repaired.
absl::Status ClusterReplay::Fail(const NodeFailure& failure) {
  SimulatedNode& node = nodes_[failure.node];
  FailureTotals& totals = result_.failures;
  if (!state_.power().IsOn(node.id)) {
    ++totals.ignored;
    return absl::OkStatus();
  }
  ++totals.failures;
  if (failure.repair > 0) {
    RETURN_IF_ERROR(Take(DrainNode{node.name, true, "under repair"}));
    repairs_.emplace(now_ + failure.repair, failure.node);
    result_.threads.Close(failure.node);
    result_.free_gpus.Close(failure.node);
    totals.away += static_cast<double>(failure.repair) * static_cast<double>(node.threads->size());
  }
  RETURN_IF_ERROR(Take(LoseAgent{node.id}));
  ++node.boots;
  return RegisterNode(node);
}

// Jobs that the controller holds because they were requeued too often: an operator lets them go.
absl::Status ClusterReplay::ReleaseHeld() {
  for (const JobId id : held_) {
    RETURN_IF_ERROR(Take(HoldJob{id, std::nullopt, false, Operator()}));
    ++result_.failures.released;
  }
  held_.clear();
  return absl::OkStatus();
}

absl::Status ClusterReplay::CheckProgress() const {
  if (progress_.hopeless.valid()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", live_.at(progress_.hopeless).job.id, " was begun again ",
        live_.at(progress_.hopeless).attempts,
        " times and never ends: nodes fail too often for it; give a larger mtbf or checkpoints"));
  }
  if (started_ == 0 && core::WaitingJobs(state_) > 0 && now_ - progress_.last_change > kPatience) {
    return absl::FailedPreconditionError(
        absl::StrCat(core::WaitingJobs(state_), " jobs wait since ", progress_.last_change,
                     " s for nodes that are never all up at once: give a shorter repair"));
  }
  return absl::OkStatus();
}

void ClusterReplay::SumUpFailures() {
  FailureTotals& totals = result_.failures;
  totals.ignored += failures_.ignored();
  for (; !repairs_.empty(); repairs_.pop()) {
    const auto& [until, number] = repairs_.top();
    totals.away -=
        static_cast<double>(until - now_) * static_cast<double>(nodes_[number].threads->size());
  }
  result_.faults = faults_;
}

}  // namespace muster::sim
