#pragma once

// Which alerts last.
//
// Thread promise: one owner. Invariants: an alert is known by its rule and subject; it is open once
// it has been so for as long as its rule says, and is over at the first look that does not find it,
// or, of an end that was told, after kKept.

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/change/alert.h"
#include "scheduler/model/view/view.h"
#include "scheduler/settings/alerts/alert_rules.h"

namespace muster {

// Of what is no node, no job and not the controller.
struct SubjectWarning {
  std::string subject;  // "certificate of agent n1"
  std::string node;     // that it is of; empty: none
  Warning warning;
};

class AlertJudge {
 public:
  static constexpr std::chrono::hours kKept{1};
  static constexpr Duration kLate = std::chrono::minutes(1);  // after a promised start

  explicit AlertJudge(AlertSettings settings) : settings_(std::move(settings)) {}

  // Other rules from the next look on.
  void Use(AlertSettings settings) { settings_ = std::move(settings); }
  // These were open when another judged: they need not last again.
  void Resume(const std::vector<Alert>& open);
  // What there is now.
  void Look(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
            const std::vector<Warning>& controller, Time now,
            const std::vector<SubjectWarning>& others = {});
  // The job, or a part of it, ended by itself in a way that needs attention: out of memory, or
  // hung.
  void NoteOutOfMemory(const JobView& job, Time now);
  void NoteHung(const JobView& job, Time now);
  // By rule and subject.
  [[nodiscard]] std::vector<Alert> Open(Time now) const;

 private:
  struct Entry {
    Alert alert;
    bool found = true;  // at the last look
    bool kept = false;  // for a while, though no look finds it
  };
  void NoteEnd(const std::string& rule, const JobView& job, const char* what, Time now);
  Entry* Find(const std::string& rule, Alert alert, Time now);
  void LookAtNode(const NodeView& node, Time now);
  void LookAtJob(const JobView& job, Time now);

  AlertSettings settings_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;  // by rule and subject
};

}  // namespace muster
