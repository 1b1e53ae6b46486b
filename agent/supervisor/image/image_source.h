#pragma once

// From what a user calls an image to its unpacked files: taken from another node or fetched by
// skopeo, unpacked by umoci or unsquashfs, kept in the user's cache. A squashfs file that can be
// mounted is not unpacked.
//
// Works as the user, with the user's own credentials (auth.json) and proxies, which are in the
// tools' environment. Thread promise: the one thread of the program. Invariants: what an image
// unpacks to is bounded while it is unpacked; what belongs to others in an image belongs to the
// user, and a device or a right of another user's in it comes to nothing.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/image/cache/image_cache.h"
#include "agent/supervisor/image/layout/image_take.h"
#include "agent/supervisor/image/system/squash_mount.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct FoundImage {
  std::string key;  // in the cache; of a bundle its path
  CachedImage image;
  std::optional<SquashMount> mount = {};  // to be mounted at its rootfs, which is empty until then
};

struct FetchTools {
  std::vector<std::string> environment;         // of the programs
  Duration patience = std::chrono::minutes(2);  // for which a registry may send nothing
  bool squashfuse = true;                       // may serve squashfs files
  ImageSharing sharing = {};                    // a registry's images with other nodes
};

// An error is one line, with the name of the image. A registry that cannot be reached is asked once
// more; then it is Unavailable, and may be asked in a while.
absl::StatusOr<FoundImage> FindImage(const std::string& image, const ImageCache& cache,
                                     const FetchTools& tools);

// What a squashfs file keeps of an image's environment, as enroot has it.
std::vector<std::string> EnvironmentIn(const std::string& rootfs);

// NAME[:TAG][@DIGEST] with that digest and no tag.
std::string WithDigest(const std::string& reference, const std::string& digest);

}  // namespace muster::agent
