#include "scheduler/settings/alerts/alert_judge.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/model/job/job_state.h"

namespace muster {
namespace {

constexpr const char* kOutOfMemory = "JobOutOfMemory";
constexpr const char* kHung = "JobHung";

Alert OfJob(const JobView& job, const std::string& what) {
  Alert alert;
  alert.subject = absl::StrCat("job ", job.label);
  alert.job = job.id;
  alert.label = job.label;
  alert.user = job.user;
  alert.text = absl::StrCat("job ", job.label, " ", job.name, " of ", job.user, what);
  return alert;
}

Alert OfNode(const NodeView& node, std::string text) {
  Alert alert;
  alert.subject = alert.node = node.name;
  alert.text = std::move(text);
  return alert;
}

}  // namespace

void AlertJudge::Resume(const std::vector<Alert>& open) {
  entries_.clear();
  for (const Alert& alert : open) {
    Entry& entry = entries_[{alert.rule, alert.subject}];
    entry.alert = alert;
    entry.kept = alert.rule == kOutOfMemory || alert.rule == kHung;
  }
}

// Null: the rule is off.
AlertJudge::Entry* AlertJudge::Find(const std::string& rule, Alert alert, Time now) {
  const auto setting = settings_.find(rule);
  if (setting == settings_.end()) {
    return nullptr;
  }
  Entry& entry = entries_[{rule, alert.subject}];
  const Time since = entry.alert.since == kNoTime ? now : entry.alert.since;
  entry.alert = std::move(alert);
  entry.alert.rule = rule;
  entry.alert.severity = setting->second.severity;
  entry.alert.since = since;
  entry.found = true;
  return &entry;
}

void AlertJudge::LookAtNode(const NodeView& node, Time now) {
  if (absl::StartsWith(node.state, "DOWN")) {
    Find("NodeSilent", OfNode(node, absl::StrCat("node ", node.name, " does not answer")), now);
  }
  if (absl::StrContains(node.state, "+DRAIN")) {
    Find("NodeDrained",
         OfNode(node, absl::StrCat("node ", node.name, " is drained: ", node.reason)), now);
  }
  if (absl::StrContains(node.reason, "fallen off the bus")) {
    Find("GpuLost", OfNode(node, absl::StrCat("node ", node.name, ": ", node.reason)), now);
  }
  for (const Warning& warning : node.warnings) {
    Find(warning.rule, OfNode(node, absl::StrCat("node ", node.name, ": ", warning.text)), now);
  }
  if (!node.health.empty() && node.health != "good") {
    Find("NodeUnhealthy", OfNode(node, absl::StrCat("node ", node.name, ": ", node.health)), now);
  }
}

void AlertJudge::LookAtJob(const JobView& job, Time now) {
  if (!job.alert.empty()) {
    Find("JobOverlooked", OfJob(job, absl::StrCat(": ", job.alert)), now);
  }
  if (job.reason.never) {
    Find("JobNeverStarts", OfJob(job, absl::StrCat(" never starts as it is: ", job.reason.text)),
         now);
  }
  if (absl::StrContains(job.binding, "differs")) {
    Find("BindingDiffers", OfJob(job, absl::StrCat(": ", job.binding)), now);
  }
  for (const Warning& warning : job.warnings) {
    Find(warning.rule, OfJob(job, absl::StrCat(": ", warning.text)), now);
  }
  if (IsWaiting(job.state) && job.expected_start != kNoTime && job.expected_start + kLate < now) {
    Find("StartPromiseMissed", OfJob(job, " should have started"), now);
  }
}

void AlertJudge::Look(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
                      const std::vector<Warning>& controller, Time now,
                      const std::vector<SubjectWarning>& others) {
  for (auto& [name, entry] : entries_) {
    entry.found = entry.kept && now - entry.alert.since < kKept;
  }
  for (const NodeView& node : nodes) {
    LookAtNode(node, now);
  }
  for (const JobView& job : jobs) {
    LookAtJob(job, now);
  }
  for (const Warning& warning : controller) {
    Alert alert;
    alert.subject = "controller";
    alert.text = absl::StrCat("controller: ", warning.text);
    Find(warning.rule, std::move(alert), now);
  }
  for (const SubjectWarning& other : others) {
    Alert alert;
    alert.subject = other.subject;
    alert.node = other.node;
    alert.text = other.warning.text;
    Find(other.warning.rule, std::move(alert), now);
  }
  std::erase_if(entries_, [](const auto& entry) { return !entry.second.found; });
}

void AlertJudge::NoteEnd(const std::string& rule, const JobView& job, const char* what, Time now) {
  Entry* const entry = Find(rule, OfJob(job, what), now);
  if (entry != nullptr) {
    entry->alert.since = now;
    entry->kept = true;
  }
}

void AlertJudge::NoteOutOfMemory(const JobView& job, Time now) {
  NoteEnd(kOutOfMemory, job, " ran out of memory", now);
}

void AlertJudge::NoteHung(const JobView& job, Time now) {
  NoteEnd(kHung, job, " showed no progress", now);
}

std::vector<Alert> AlertJudge::Open(Time now) const {
  std::vector<Alert> open;
  for (const auto& [name, entry] : entries_) {
    const auto setting = settings_.find(name.first);
    const bool lasts =
        setting != settings_.end() && now - entry.alert.since >= setting->second.hold;
    if (entry.found && lasts) {
      open.push_back(entry.alert);
    }
  }
  return open;
}

}  // namespace muster
