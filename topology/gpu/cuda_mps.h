#pragma once

// Whether CUDA's Multi-Process Service runs on this machine, so that processes share a GPU at once.
//
// The control daemon listens on the socket `control` of its pipe directory (NVIDIA, "Multi-Process
// Service", CUDA_MPS_PIPE_DIRECTORY) and leaves it there when it ends, so a socket alone says
// nothing: a process must be bound to it. That is asked without a connection, which the daemon
// would note in its log. Daemons older than the socket have a named pipe and are known by the pid
// file. A job's work on a GPU goes through the daemon, so a directory counts only if no other user
// can put a daemon of his own there. Thread promise: reads files only, of which none waits for
// another process; safe from any thread that may read the environment.

#include <string>

#include "absl/status/status.h"

namespace muster::topology {

// CUDA_MPS_PIPE_DIRECTORY of the environment, else "/tmp/nvidia-mps", as CUDA itself has it.
std::string MpsPipeDirectory();

// OK when `directory` has the control of a daemon, and both are root's or our own: the way to it as
// CheckTrustedPath says (it may lead through a sticky /tmp), and nobody else may write to the
// directory itself. Errors: NotFound; PermissionDenied names what is wrong, and the mend.
absl::Status CheckMpsDirectory(const std::string& directory);

// Whether a control daemon that we may talk to serves `directory`, which passes that check; false
// for one that is not there, that outlived its daemon, or whose path is too long for a socket.
bool MpsRunsIn(const std::string& directory);

}  // namespace muster::topology
