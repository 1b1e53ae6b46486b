#pragma once

// A place in memory for what a boot voids anyway: the directories of attempts.
//
// There files are made, renamed and removed several times as fast as on a disk. It has to outlive
// the agent as the state directory does, so it is taken only where nobody removes it before the
// machine is shut down: a login manager clears a user's at his last logout, unless he lingers.

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster::agent {

// A directory on a tmpfs with room, in which `user` may make one of his own that stays until the
// machine is shut down; nothing where there is none. `runtime` is his XDG_RUNTIME_DIR, or empty.
std::optional<std::string> FindMemory(uid_t user, const std::string& runtime);

// Whether `directory` lies in memory and is `user`'s alone.
absl::Status CheckMemoryPlace(const std::string& directory, uid_t user);

}  // namespace muster::agent
