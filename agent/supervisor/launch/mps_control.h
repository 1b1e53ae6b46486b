#pragma once

// The control daemon of CUDA's Multi-Process Service, run as the user whose pipe directory it is.
//
// A process that root's agent starts becomes the directory's owner for good. It executes the
// daemon, in the foreground, with its pipes and logs in the directory, if none runs there; or the
// program that tells it to end, or empties the directory if it has. CUDA_VISIBLE_DEVICES comes from
// the agent. Invariant: no program of NVIDIA's runs as root here, unless root's jobs share GPUs.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

inline constexpr const char* kMpsProgram = "nvidia-cuda-mps-control";
// The words by which the supervisor's program does so.
inline constexpr const char* kMpsServe = "--mps";
inline constexpr const char* kMpsQuit = "--mps-quit";

// Its exit status, where another program does not take its place.
int RunMpsControl(const char* directory, bool quit);

// Waits, as `user`, until a daemon listens in `directory`: an error when none does after `limit`.
absl::Status AwaitMps(const JobUser* user, const std::string& directory, Duration limit);

}  // namespace muster::agent
