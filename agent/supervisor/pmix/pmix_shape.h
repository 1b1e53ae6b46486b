#pragma once

// Which steps PMIx can serve, and where Open MPI's shared segments of one lie.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/pmix/pmix_step_config.h"

namespace muster::agent {

// InvalidArgument, one line, says what of the step cannot be.
absl::Status CheckPmixShape(const PmixStepConfig& step);

// Makes a directory for them in the memory file system `shared_memory`; "" where that cannot be, or
// none is given. Open MPI derives the names of its segments from the namespace alone, so two
// clusters on one machine would share them, and killed ranks leave them behind. A directory with a
// name of its own cures both; without one Open MPI still works.
std::string MakePmixSegments(const std::string& shared_memory, const std::string& nspace);
// The name alone of such a directory, which another process will make.
std::string NamePmixSegments(const std::string& shared_memory, const std::string& nspace);

}  // namespace muster::agent
