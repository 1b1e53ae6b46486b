#pragma once

// An alert: a condition that needs attention, while it lasts.
//
// Invariant: the rule and the subject together name it; at most one of a name is open.

#include <string>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct Alert {
  std::string rule;      // "NodeSilent"
  std::string severity;  // any word of the site's: "critical"
  std::string subject;   // "node1", "job 7", "controller"
  std::string node;      // its name, or empty
  JobId job;             // none: it is of no job
  std::string label;     // the job's
  std::string user;      // whose job
  std::string text;      // one sentence
  Time since = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"rule", &Alert::rule}, Field{"severity", &Alert::severity},
                Field{"subject", &Alert::subject}, Field{"node", &Alert::node},
                Field{"job", &Alert::job}, Field{"label", &Alert::label},
                Field{"user", &Alert::user}, Field{"text", &Alert::text},
                Field{"since", &Alert::since});
  }
  friend bool operator==(const Alert&, const Alert&) = default;
};

}  // namespace muster
