#pragma once

// Has an OCI runtime make a container whose first process waits and never runs a program, and
// delete it again. The runtime is one by the specification's command line (crun, runc), which is
// given config.json, or podman, which is given the same as options.
//
// Thread promise: the one thread of the program. Invariants: all that the runtime keeps is below
// `scratch`; a container that was made is deleted once.

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

class RuntimeCall {
 public:
  // REQUIRES: config.json is in `scratch`; for podman, after EnterOwnNamespaces().
  RuntimeCall(std::string runtime, std::string scratch);

  // The pid of its first process.
  [[nodiscard]] absl::StatusOr<pid_t> Create();
  [[nodiscard]] absl::Status Delete() const;

 private:
  [[nodiscard]] absl::Status CreateByPodman();
  [[nodiscard]] absl::Status Call(const std::vector<std::string>& words) const;

  const std::string runtime_;
  const std::string scratch_;
  const bool is_podman_;
  std::string state_;  // where it keeps what it knows
};

// The options of `podman create` that say what the document `config` (runtime_config.h) does.
// InvalidArgument: a path of it holds what separates parts of an option.
absl::StatusOr<std::vector<std::string>> PodmanOptions(const std::string& config);

}  // namespace muster::agent
