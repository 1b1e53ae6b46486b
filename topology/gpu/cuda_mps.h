#pragma once

// Whether CUDA's Multi-Process Service runs on this machine, so that processes share a GPU at once.
//
// The control daemon listens on the socket `control` of its pipe directory (NVIDIA, "Multi-Process
// Service", CUDA_MPS_PIPE_DIRECTORY) and leaves it there when it ends, so a socket alone says
// nothing: a process must be bound to it. That is asked without a connection, which the daemon
// would note in its log. Daemons older than the socket have a named pipe and are known by the pid
// file. Thread promise: reads files only; safe from any thread that may read the environment.

#include <string>

namespace muster::topology {

// CUDA_MPS_PIPE_DIRECTORY of the environment, else "/tmp/nvidia-mps", as CUDA itself has it.
std::string MpsPipeDirectory();

// Whether a control daemon that we may talk to serves `directory`; false for one that is not there,
// that outlived its daemon, or whose path is too long for a socket.
bool MpsRunsIn(const std::string& directory);

}  // namespace muster::topology
