#pragma once

// Saves what a container has become in a squashfs file, as the user whom this process is.
//
// Thread promise: for a process with one thread, which is of no use for anything else afterwards.
// Invariants: the file is there whole or not at all; one that was there before stays as it was.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/container_order.h"

namespace muster::agent {

// AlreadyExists or PermissionDenied, one line, when `path` cannot become that file. "": it need
// not.
absl::Status CheckSaveTarget(const std::string& path);

// Of the container that `order.saved` describes, as `order.spec.save`. `tools`: the environment of
// the programs.
absl::Status SaveContainer(const ContainerOrder& order, const std::vector<std::string>& tools);

}  // namespace muster::agent
