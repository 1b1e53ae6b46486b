#pragma once

// Policy as the reading verbs show it: each object as the words that say it, and what is in use.
//
// Made by the controller, rendered by the cli. Names are a contract: further ones may be added,
// none renamed.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/policy/policy.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct PolicyView {
  std::string kind;  // "partition", "qos", "account", "association", "reservation"
  std::string name;  // of an association: "ACCOUNT/USER"
  std::vector<Assignment> properties;  // what is not at its default
  bool configured = false;             // from the configuration
  bool implied = false;                // there because no object is defined: main, normal
  std::uint64_t jobs_submitted = 0;
  std::uint64_t jobs_running = 0;
  std::string held;         // "cpu=10,mem=4G": by the running ones
  std::string spent;        // of budgets, in minutes
  std::string state;        // partitions: UP …; reservations: ACTIVE, INACTIVE, OVER
  std::uint32_t nodes = 0;  // registered ones that belong to it
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &PolicyView::kind}, Field{"name", &PolicyView::name},
                Field{"properties", &PolicyView::properties},
                Field{"configured", &PolicyView::configured},
                Field{"implied", &PolicyView::implied},
                Field{"jobs_submitted", &PolicyView::jobs_submitted},
                Field{"jobs_running", &PolicyView::jobs_running}, Field{"held", &PolicyView::held},
                Field{"spent", &PolicyView::spent}, Field{"state", &PolicyView::state},
                Field{"nodes", &PolicyView::nodes});
  }
  friend bool operator==(const PolicyView&, const PolicyView&) = default;
};

// One change, as the journal has it.
struct PolicyChangeView {
  Time time = kNoTime;
  std::string user;  // the user
  std::string kind;
  std::string name;
  bool deleted = false;
  std::string text;  // "MaxJobs=4 (was 2)"
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &PolicyChangeView::time}, Field{"user", &PolicyChangeView::user},
                Field{"kind", &PolicyChangeView::kind}, Field{"name", &PolicyChangeView::name},
                Field{"deleted", &PolicyChangeView::deleted},
                Field{"text", &PolicyChangeView::text});
  }
  friend bool operator==(const PolicyChangeView&, const PolicyChangeView&) = default;
};

}  // namespace muster
