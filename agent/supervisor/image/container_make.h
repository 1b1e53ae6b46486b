#pragma once

// Makes the container of an order, as the user whom this process is: finds the image, lays its
// files below a directory of the container's own, and has the OCI runtime make namespaces in which
// they are the root.
//
// Thread promise: for a process with one thread, which is of no use for anything else afterwards.
// Invariants: what a user may not read, the container does not show; no process of the container is
// left when this is done.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct MadeContainer {
  ContainerMade facts;
  UniqueFd users;               // its user namespace
  UniqueFd mounts;              // its mount namespace
  std::vector<UniqueFd> locks;  // keep its files while they are open
};

// `announce`: of an image that another node may have (image_take.h).
absl::StatusOr<MadeContainer> MakeContainer(
    const ContainerOrder& order, const std::vector<std::string>& environment,
    const std::function<bool(const ImageWanted& wanted)>& announce = nullptr);

}  // namespace muster::agent
