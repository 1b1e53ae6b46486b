#pragma once

// What the agent samples of its node and tells the controller: what attempts use and say, how fast
// their ranks are, what GPUs do, and who else uses them.
//
// Thread promise: the loop's thread. Invariant: that nothing runs here any more is told, too.

#include <optional>
#include <string>
#include <vector>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/node/faults/gpu_judge.h"
#include "agent/node/gpu_users.h"
#include "agent/node/pace/pace_sampler.h"
#include "agent/node/usage_sampler.h"
#include "proto/agent.pb.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

class NodeSamples {
 public:
  // Everything that is referred to outlives it.
  NodeSamples(const Machine& machine, StateDirectory& state, const Clock& clock,
              UsageSampler::Sources sources);

  // Takes a sample of what runs here, as the node of that name. What has gone wrong with GPUs since
  // the last.
  std::vector<GpuFault> Take(const UsageSampler::Running& running, const std::string& node);
  // The same of their errors alone, between two samples.
  std::vector<GpuFault> LookForErrors();
  // Adds to the end of an attempt what its ranks had of GPUs, and which errors they met.
  void Complete(const AttemptKey& key, const std::string& node, RunEnded& end) const;
  [[nodiscard]] std::optional<GpuWork> WorkOf(const std::string& gpu) const {
    return pace_.WorkOf(gpu);
  }
  // What there is to tell; nothing: as little as was told last.
  std::optional<wire::UsageSamples> Tell();
  // When the next sample is due, at most `every` after the last.
  [[nodiscard]] Duration NextIn(Duration every) const;

 private:
  StateDirectory& state_;
  const Clock& clock_;
  UsageSampler usage_;
  PaceSampler pace_;
  GpuJudge judge_;
  topology::GpuMeter* const gpus_;
  GpuUsers gpu_users_;
  bool told_ = false;               // of some attempt
  Time errors_recorded_ = kNoTime;  // the newest of them
};

}  // namespace muster::agent
