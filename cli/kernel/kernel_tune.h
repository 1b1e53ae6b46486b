#pragma once

// muster kernel tune: a kernel searches its block sizes, and the cluster hands them on.
//
// The kernel keeps what it found for its own node; where there is a controller, that keeps it for
// all nodes like it, and muster kernel run takes it from there. Thread promise: runs on the main
// thread.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/kernel/kernel_catalogue.h"

namespace muster::cli {

struct TuneRequest {
  BundledKernel kernel;
  std::string budget = "30s";
  std::vector<std::string> arguments;  // the kernel's own
  bool json = false;
};

// InvalidArgument for a kernel that cannot be tuned, or a budget that is none.
absl::StatusOr<int> TuneKernel(const TuneRequest& request, const Invocation& invocation);

// What the cluster knows of the kernel's block sizes, as the kernel reads it; "" where there is no
// controller or it knows nothing.
std::string SharedTunings(const BundledKernel& kernel, const Invocation& invocation);

// The environment variable by which a kernel gets its block sizes.
inline constexpr const char* kTuningVariable = "MUSTER_KERNEL_TUNINGS";

}  // namespace muster::cli
