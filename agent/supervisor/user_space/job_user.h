#pragma once

// The user as whom a job runs, where that is not the user whom we run as: we are root, he is not.
//
// Thread promise: BecomeForGood is for a child with one thread. Invariant: what could not be
// verified is an error, never a wider identity.

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::agent {

// What processes have of the session that they are in (pam_session.h).
struct SessionTraits {
  struct Limit {
    int resource = 0;  // RLIMIT_…
    rlimit value = {};
  };
  std::vector<Limit> limits;
  std::optional<int> priority;
  std::vector<std::string> environment;  // "NAME=value"
};

struct JobUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string name;
  SessionTraits session = {};
  bool to_find = false;     // groups and name are as FindJobUser says, which the child asks itself
  std::string cgroup = {};  // a directory: a child (as_user.h) enters it first; empty: it stays
};

// As whom a job of `user` runs; nothing: as we do, because we are not root, or it is root's. A user
// whom this node does not know, or knows by another number, is an error.
absl::StatusOr<std::optional<JobUser>> FindJobUser(const User& user);

// The same for a child alone (as_user.h), which looks the user up: a name server that hangs holds
// up no other.
std::optional<JobUser> UserToFind(const User& user);

// Makes this process that user's for good, within the limits of his session, with no way back or
// up, not even by a set-user-ID program. Async-signal-safe, for the child between fork and exec;
// false, with errno: it is not.
bool BecomeForGood(const JobUser& user);

// Lets the user reach what lies in `directory`, where it and the two above are ours alone, by name;
// what he may do there its own mode says.
void LetPass(const std::string& directory);

}  // namespace muster::agent
