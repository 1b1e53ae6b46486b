#pragma once

// What a container sees of its node, and which variables go before its image's:
// "/data:/data:ro,/scratch", "CUDA_HOME,PATH".
//
// The form is pyxis's. Pure; errors as in number.h. Invariants: an accepted mount has both paths.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/container.h"

namespace muster::cli {

// SRC[:DST[:ro|rw]],…; without DST it is seen where it is.
absl::StatusOr<std::vector<ContainerMount>> ParseContainerMounts(std::string_view text);

// NAME,…
absl::StatusOr<std::vector<std::string>> ParseVariableNames(std::string_view text);

// Paths of the node that do not begin with "/" are below `directory`.
void MakeAbsolute(const std::string& directory, ContainerSpec* container);

}  // namespace muster::cli
