#pragma once

// Where a job's output goes: opening what its patterns of paths (output_pattern.h) name.
//
// Thread promise: called by the supervisor's thread.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// Opens `path` (relative to `work_dir`) for writing at its end (the ranks of several nodes and
// steps may share it), with mode 0666 less the umask in force; cut to nothing unless `append`.
// Never waits: a FIFO that no process reads is refused. The error is one line that names the path.
absl::StatusOr<UniqueFd> OpenOutput(const std::string& work_dir, const std::string& path,
                                    bool append);

// Whether no byte more can be written there. May wait for the file system.
bool IsOnFullDisk(const std::string& work_dir, const std::string& path);

// Opens `path` for reading; empty is /dev/null. Never waits.
absl::StatusOr<UniqueFd> OpenInput(const std::string& work_dir, const std::string& path);

}  // namespace muster::agent
