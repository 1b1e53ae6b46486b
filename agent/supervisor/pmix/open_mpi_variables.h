#pragma once

// What ranks of Open MPI 4.1 need beside PMIx's own variables.

#include <cstdint>
#include <string>
#include <vector>

#include "agent/supervisor/pmix/pmix_step_config.h"

namespace muster::agent {

// "NAME=value" of the local rank `rank`.
std::vector<std::string> OpenMpiVariables(const PmixStepConfig& step, std::uint32_t rank);

}  // namespace muster::agent
