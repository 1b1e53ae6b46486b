#pragma once

// Which image a name means now, for a registry may let it mean another tomorrow, and for which
// machines it is.
//
// Asked with skopeo, as the user, with the user's own credentials. Thread promise: the caller's
// thread, for at most twice `patience`. Invariant: what cannot be learnt here leaves the image as
// it is, and for any machine.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Pins a registry's image by its digest, NAME[:TAG]@sha256:…. NotFound: the registry has no such
// image. `environment`: of skopeo. For which machine the image is, as images call it ("amd64"); of
// an image for several, the one that fits here; "": it is not known. One that is pinned is not
// asked for again.
absl::StatusOr<std::string> PinImage(const std::vector<std::string>& environment, Duration patience,
                                     ContainerSpec* container);

// For which machines, where the image is one of several; empty: of one, or it is not known.
std::vector<std::string> ImageMachines(const std::vector<std::string>& environment,
                                       Duration patience, const std::string& image);
// What an index of images says of that; of any other text nothing.
std::vector<std::string> MachinesIn(const std::string& index);

}  // namespace muster::cli
