#pragma once

// Which alerts are there.
//
// Thread promise: one owner. Invariants: an alert is known by its rule and subject; it begins once
// it has been so for as long as its rule says, and ends at the first look that does not find it,
// or, of an event, after kKept.

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/alerts/alert_rules.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct Alert {
  std::string rule;
  std::string severity;
  std::string subject;  // "node1", "job 7"
  std::string node;     // or empty
  std::string job;      // its label, or empty
  std::string user;     // whose job
  std::string text;     // one sentence
  Time since = kNoTime;
  Time ended = kNoTime;  // kNoTime: it lasts
};

class AlertTable {
 public:
  static constexpr std::chrono::hours kKept{1};
  static constexpr Duration kLate = std::chrono::minutes(1);  // after a promised start

  explicit AlertTable(AlertSettings settings) : settings_(std::move(settings)) {}

  // What there is now.
  void Look(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
            const std::vector<Warning>& controller, Time now);
  // An event's JSON.
  void Hear(const std::string& json, Time now);
  // Those that fire, and, once, those that ended since the last time.
  std::vector<Alert> Take(Time now);

 private:
  struct Entry {
    Alert alert;
    bool found = true;  // at the last look
    bool kept = false;  // an event's
    bool told = false;
  };
  void Find(const std::string& rule, Alert alert, Time now);
  void LookAtNode(const NodeView& node, Time now);
  void LookAtJob(const JobView& job, Time now);

  const AlertSettings settings_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;  // by rule and subject
};

}  // namespace muster::cli
