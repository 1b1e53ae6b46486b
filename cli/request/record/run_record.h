#pragma once

// What a job is made of, as names and values that two runs can be compared by.
//
// Reads the environment that the job gets and, once a process, the repository of its directory.
// Thread promise: the main thread. Invariants: each
// name is there once, in order; no value of a variable that may hold a secret is in it: of the
// environment as a whole only a hash is.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

inline constexpr const char* kNoRecord = "MUSTER_RECORD";  // of which "0" turns it off
// What --checkpoint-dir and --checkpoint-interval said, where they were given.
inline constexpr const char* kCheckpointDirectoryRecord = "checkpoint.directory";
inline constexpr const char* kCheckpointIntervalRecord = "checkpoint.interval";

// `own` is the environment of this process, which says whether a record is wanted:
// "checkpoint.directory=/state", "conda=base", "environment=9f86d081884c7d65", "git.changed=no",
// "git.commit=…", "modules=…", "program=…" (a hash of the script and the command),
// "seed.PYTHONHASHSEED=0", "virtualenv=…".
std::vector<std::string> RunRecord(const Program& program, const std::vector<std::string>& own);

}  // namespace muster::cli
