#pragma once

// The user as whom the programs of a class of nodes run, where that is not the controller's own.
//
// Thread promise: any thread; it may wait for the machine's name services. Invariant: whoever
// cannot be become is an error, never another user.

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/process.h"

namespace muster::daemon {

struct PowerUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;
};

// Nothing: it is the controller's own user, or none was named. An error says why a controller of
// this user cannot run programs as that one.
absl::StatusOr<std::optional<PowerUser>> FindPowerUser(const std::string& name);

// Has the program run as the user, with the user's groups and HOME, and with no right of ours.
void RunAs(const PowerUser& user, SpawnRequest& request);

}  // namespace muster::daemon
