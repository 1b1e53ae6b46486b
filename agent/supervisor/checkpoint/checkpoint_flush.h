#pragma once

// The helpers of libmuster-checkpoint that copy checkpoints to the shared directory: this process
// adopts them, and an attempt that ended by itself waits for them.
//
// Thread promise: one thread.

#include <string>

namespace muster::agent {

// The helper beside the program at `supervisor`, or where it is installed; "" when it is neither.
std::string FindFlushProgram(const std::string& supervisor);

// The same of `muster`.
std::string FindCommand(const std::string& supervisor);

// Whether one of this process's descendants is such a helper at work.
bool FlushRuns();
// The same, or one that copies to an object store, which ends once the batch script has.
bool CopyRuns();

}  // namespace muster::agent
