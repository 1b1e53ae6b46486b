#pragma once

// The machine that an agent of a swarm says it has: two packages, GPUs shared out between them.

#include <cstdint>

#include "scheduler/model/machine/machine.h"

namespace muster::swarm {

Machine MakeMachine(std::uint32_t cores, std::uint32_t gpus);

}  // namespace muster::swarm
