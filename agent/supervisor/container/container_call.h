#pragma once

// One call of `muster-container`: an order in memory on its standard input, answers on a socket.
//
// Thread promise: the loop's thread. Invariant: the program runs as the job's user, in the
// attempt's control group and mounts.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct ContainerCall {
  std::string program;                   // its path
  std::vector<std::string> arguments;    // after its name
  std::vector<std::string> environment;  // "NAME=value"
  std::string order;                     // encoded
  const JobUser* user = nullptr;         // null: it runs as we do
  const AttemptCgroup* cgroup = nullptr;
  int mounts = -1;  // a mount namespace, or -1
};

// Starts it; the answer comes by the socket. `said` is how its start went: kept open, it can say
// so.
absl::StatusOr<UniqueFd> CallContainerProgram(const ContainerCall& call, UniqueFd* said);

struct ContainerAnswer {
  std::string bytes;  // none: it has ended without a word
  std::vector<UniqueFd> descriptors;
};

// The program's next packet.
ContainerAnswer TakeAnswer(const UniqueFd& socket);

}  // namespace muster::agent
