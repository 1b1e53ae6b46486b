#pragma once

// Which image a name means now: a registry may let it mean another tomorrow.
//
// Asked with skopeo, as the user, with the user's own credentials. Thread promise: the caller's
// thread, for at most `patience`. Invariant: what cannot be learnt here leaves the image as it is.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Pins a registry's image by its digest, NAME[:TAG]@sha256:…. NotFound: the registry has no such
// image. `environment`: of skopeo.
absl::Status PinImage(const std::vector<std::string>& environment, Duration patience,
                      ContainerSpec* container);

}  // namespace muster::cli
