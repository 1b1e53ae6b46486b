#pragma once

// Reads what an OCI image layout says of an image: its digest, for which machine it is, and how its
// programs want to be run (OCI image specification 1.1).
//
// Whoever made the layout is not believed: sizes are bounded, a digest is one before it becomes a
// path. Its layers are umoci's, which checks their digests. Invariant: a digest is one by
// IsDigest().

#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/image/cache/image_facts.h"

namespace muster::agent {

// The image `tag` of the layout in `directory`; "": the only one there, or "latest" of several.
// FailedPrecondition for an index of several machines' images.
absl::StatusOr<ImageFacts> ReadOciLayout(const std::string& directory, const std::string& tag);

// As which name umoci finds that image.
absl::StatusOr<std::string> NameInLayout(const std::string& directory, const std::string& tag);

// InvalidArgument when the image is for another.
absl::Status CheckArchitecture(const ImageFacts& facts);

}  // namespace muster::agent
