#pragma once

// Which programs of the site a node runs around jobs and steps: prologs and epilogs.
//
// Thread promise: plain values; CheckSiteScript is safe from any thread. Invariant: a program that
// another user could have written is never run.

#include <string>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct SiteScript {
  std::string program;  // empty: none
  bool as_user = false;
  Duration time_limit{60'000};
  [[nodiscard]] bool given() const { return !program.empty(); }
};

struct SiteScripts {
  SiteScript prolog;
  SiteScript epilog;
  SiteScript step_prolog;
  SiteScript step_epilog;
};

// Whether root may run the program without trust in another user: a file that is there, can be
// executed, and that nobody but us and root can change, nor the directories on the way to it. The
// error is one line.
absl::Status CheckSiteScript(const std::string& program);

}  // namespace muster::agent
