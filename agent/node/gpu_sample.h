#pragma once

// What a meter read of a GPU, as the agent tells it.
//
// Pure. Invariant: what the meter could not read is not in the message, and never 0.

#include "proto/agent.pb.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

wire::GpuSample SampleOf(const topology::GpuReading& gpu);

}  // namespace muster::agent
