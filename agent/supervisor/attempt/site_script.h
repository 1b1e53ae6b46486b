#pragma once

// Which programs of the site a node runs around jobs and steps: prologs and epilogs.
//
// Thread promise: plain values; CheckSiteScript is safe from any thread. Invariant: a program that
// another user could have written is never run.

#include <string>

#include "absl/status/status.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

struct SiteScript {
  std::string program;  // empty: none
  bool as_user = false;
  Duration time_limit{60'000};
  [[nodiscard]] bool given() const { return !program.empty(); }
  static constexpr auto Fields(auto list) {
    return list(Field{"program", &SiteScript::program}, Field{"as_user", &SiteScript::as_user},
                Field{"time_limit", &SiteScript::time_limit});
  }
};

struct SiteScripts {
  SiteScript prolog;
  SiteScript epilog;
  SiteScript step_prolog;
  SiteScript step_epilog;
  static constexpr auto Fields(auto list) {
    return list(Field{"prolog", &SiteScripts::prolog}, Field{"epilog", &SiteScripts::epilog},
                Field{"step_prolog", &SiteScripts::step_prolog},
                Field{"step_epilog", &SiteScripts::step_epilog});
  }
};

// Whether root may run the program without trust in another user: a file that is there, can be
// executed, and that nobody but us and root can change, nor the directories on the way to it. The
// error is one line.
absl::Status CheckSiteScript(const std::string& program);

}  // namespace muster::agent
