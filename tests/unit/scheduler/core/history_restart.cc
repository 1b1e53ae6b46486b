#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/actions.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/core/state/invariants.h"
#include "tests/unit/scheduler/core/history.h"

namespace muster::core::testing {

StateImage History::Image(bool apart) const {
  StateImage image;
  image.version = state_.version();
  image.epoch = state_.epoch();
  image.next_job = state_.next_job();
  image.next_node = state_.node_table().next();
  for (const auto& [id, node] : state_.nodes()) {
    image.nodes.push_back(node);
    image.nodes.back().taken = NodeUse();
  }
  state_.jobs().ForEachRun([&](const Job& job, std::uint32_t count) {
    if (state_.jobs().IsUntouched(job.id) && !apart) {
      image.elements.push_back(UntouchedElements{job, count});
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      image.jobs.push_back(*state_.FindJob(JobId(job.id.value() + i)));
    }
  });
  image.policy = ObjectsOf(state_.policy().site());
  for (const auto& [key, amount] : state_.policy().snapshot().usage.spent) {
    image.spent.push_back(*state_.policy().SpentOf(key));
  }
  image.usage = state_.usage().TakeSnapshot().used;
  image.half_life = state_.usage().half_life();
  for (const auto& [id, health] : state_.health().nodes()) {
    image.health.push_back(health);
  }
  for (const auto& [id, power] : state_.power().nodes()) {
    image.power.push_back(power);
  }
  for (const auto& [name, alert] : state_.alerts().all()) {
    image.alerts.push_back(alert);
  }
  image.narrow_links = state_.narrow_links().all();
  for (const auto& [id, tally] : state_.health().tallies()) {
    image.tallies.push_back(tally);
  }
  for (const Event& event : events_) {
    if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
      image.tokens.push_back(TokenOwner{submitted->token, submitted->first, StepId()});
    } else if (const auto* step = std::get_if<StepStarted>(&event)) {
      if (!step->token.empty()) {
        image.tokens.push_back(TokenOwner{step->token, step->job, step->step});
      }
    } else if (const auto* queued = std::get_if<StepQueued>(&event)) {
      image.tokens.push_back(TokenOwner{queued->token, queued->job, queued->step});
    }
  }
  return image;
}

// The controller dies and starts again: load, next epoch, ActionsFor every job.
void History::Restart() {
  for (SimAgent& agent : agents_) {
    agent.linked = false;
  }
  plans_.clear();
  state_ = ClusterState(Image());
  snapshots_.Forget();
  if (const std::optional<std::string> broken = BrokenInvariant(state_)) {
    Fail(absl::StrCat("after a restart: ", *broken));
  }
  Take(BeginEpoch{});
  for (const auto& [id, job] : state_.jobs()) {
    Perform(ActionsFor(job));
  }
}

}  // namespace muster::core::testing
