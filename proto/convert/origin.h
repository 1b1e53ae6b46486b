#pragma once

// Whose a refusal is: gRPC itself says UNAVAILABLE when nobody answers, and so does a controller
// that has too much to do.
//
// Invariant: gRPC never sets these details.

namespace muster {

// The error details of each status that the controller itself answers with.
inline constexpr const char* kFromController = "controller";

}  // namespace muster
