#pragma once

// Keeps a replica: what a replica's job runs.
//
// Thread promise: the main thread's. Invariants: at most one program of the replica runs; it has
// new ports at each start, so that an address never means two programs; the job's note says "ready"
// only while the program's last probe went well; when the keeper is told to end, so is the program.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/service/replica/probe_words.h"
#include "cli/service/replica/replica_health.h"

namespace muster::cli {

struct KeptReplica {
  std::vector<std::string> ports;  // names; not empty
  ServiceProbe probe;
  HealthTerms terms;
  std::string script;  // begins with "#!"
  std::vector<std::string> arguments;
};

// The exit code, once a signal has ended it. FailedPrecondition: outside of a job.
absl::StatusOr<int> KeepReplica(const Invocation& invocation, const KeptReplica& replica);

}  // namespace muster::cli
