#pragma once

// A script that is in no directory: its interpreter opens it by a descriptor, so that it stays as
// it was when it was given.

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

// A file without a name that holds `text`, to be read from its begin. `name`: for people.
absl::StatusOr<UniqueFd> FileInMemory(const std::string& name, const std::string& text);

// Starts it under the first of its arguments, with nothing to read; `request` says the rest.
absl::StatusOr<pid_t> SpawnScript(const std::string& script, SpawnRequest request);

}  // namespace muster
