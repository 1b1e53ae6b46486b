#pragma once

// Who gives a command, with what the site lets them do to jobs of others.
//
// Invariant: what it says beyond the user is no part of the state: each call is judged again.

#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/job/job_spec.h"

namespace muster {

struct Actor : User {
  // Every user is one, who may nothing to others' jobs.
  Actor() = default;
  Actor(User user) : User(std::move(user)) {}  // NOLINT(google-explicit-constructor)
  Actor(User user, bool operator_of_site, std::vector<std::string> accounts)
      : User(std::move(user)), operates(operator_of_site), coordinates(std::move(accounts)) {}

  bool operates = false;                      // an operator by the site's settings
  std::vector<std::string> coordinates = {};  // accounts, with those below them
  bool told_owners = true;                    // jobs are not private: a refusal says whose one is
};

}  // namespace muster
