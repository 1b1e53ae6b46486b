#pragma once

// What this machine sees of the files that a container is made of, before it is asked for.
//
// Thread promise: the caller's thread. Invariant: what is not seen here is accepted, as only the
// nodes may have it.

#include "absl/status/status.h"
#include "scheduler/model/job/container.h"

namespace muster::cli {

// REQUIRES: CheckContainer(container) is OK. An error is one line that begins with the option.
absl::Status CheckContainerPaths(const ContainerSpec& container);

}  // namespace muster::cli
