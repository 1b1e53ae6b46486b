#pragma once

// A user's own directory below one that is the agent's: where images and copies of data are kept.
//
// Invariant: root makes the directory and does nothing in it.

#include <string>

#include "absl/status/status.h"
#include "agent/supervisor/user_space/job_user.h"

namespace muster::agent {

// DIRECTORY/UID, the user's alone; it may be there already. Without a user everything is ours, and
// whoever uses it makes it.
absl::Status MakeUsersDirectory(const std::string& directory, const JobUser* user);

}  // namespace muster::agent
