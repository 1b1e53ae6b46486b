#pragma once

// A sampler's surroundings: a machine with two GPUs, what their meter says, and a state directory.
//
// Thread promise: one thread.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "agent/node/usage_sampler.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {

// Says what the test has it say.
class SaidMeter final : public topology::GpuMeter {
 public:
  std::vector<topology::GpuReading> Read() override { return said; }
  std::vector<topology::GpuReading> said;
};

class UsageSamplerFixture : public ::testing::Test {
 protected:
  UsageSamplerFixture() {
    machine_.gpus.resize(2);
    machine_.gpus[0].uuid = "GPU-a";
    machine_.gpus[1].uuid = "GPU-b";
    meter_.said = {{"GPU-a", 50, Bytes(10), 5000, false}, {"GPU-b", 100, Bytes(20), 9000, false}};
    state_ = std::make_unique<StateDirectory>(StateDirectory::Open(directory_ / "agent").value());
  }
  // A part of this node with those shares of its GPUs.
  static NodeAllocation Part(std::vector<GpuGrant> gpus) {
    NodeAllocation part;
    part.gpus = std::move(gpus);
    return part;
  }
  Usage Sum(const AttemptKey& key) { return ReadSampledUsage(state_->Attempt(key).Sampled()); }
  void Make(const AttemptKey& key) { ASSERT_TRUE(state_->MakeAttempt(key).ok()); }

  TempDirectory directory_;
  Machine machine_;
  SaidMeter meter_;
  std::unique_ptr<StateDirectory> state_;
  const AttemptKey one_{JobId(1), AttemptNumber(1)};
  const AttemptKey two_{JobId(2), AttemptNumber(1)};
  const SteadyTime start_ = SteadyTime(std::chrono::hours(1));
};

}  // namespace muster::agent
