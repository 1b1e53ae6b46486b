#pragma once

// The accounts that the controller's machine knows, by number and by name.
//
// Thread promise: any thread; it may wait for the machine's name services.

#include <sys/types.h>

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::daemon {

// The account of that name; NotFound when there is none.
absl::StatusOr<User> UserNamed(const std::string& name);

// The account of a numeric user id; the number as a name when there is none.
User UserOf(uid_t uid);

// The names of the groups that a user is in, those by the number of its own among them.
std::set<std::string> GroupNamesOf(const User& user);

}  // namespace muster::daemon
