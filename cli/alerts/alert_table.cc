#include "cli/alerts/alert_table.h"

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

Alert OfJob(const JobView& job, std::string text) {
  Alert alert;
  alert.subject = absl::StrCat("job ", job.label);
  alert.job = job.label;
  alert.user = job.user;
  alert.text = std::move(text);
  return alert;
}

Alert OfNode(const NodeView& node, std::string text) {
  Alert alert;
  alert.subject = alert.node = node.name;
  alert.text = std::move(text);
  return alert;
}

}  // namespace

void AlertTable::Find(const std::string& rule, Alert alert, Time now) {
  const auto setting = settings_.find(rule);
  if (setting == settings_.end()) {
    return;
  }
  Entry& entry = entries_[{rule, alert.subject}];
  const Time since = entry.alert.since == kNoTime ? now : entry.alert.since;
  entry.alert = std::move(alert);
  entry.alert.rule = rule;
  entry.alert.severity = setting->second.severity;
  entry.alert.since = since;
  entry.found = true;
}

void AlertTable::LookAtNode(const NodeView& node, Time now) {
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

void AlertTable::LookAtJob(const JobView& job, Time now) {
  if (!job.alert.empty()) {
    Find("JobOverlooked", OfJob(job, job.alert), now);
  }
  if (job.reason.never) {
    Find("JobNeverStarts", OfJob(job, job.reason.text), now);
  }
  if (absl::StrContains(job.binding, "differs")) {
    Find("BindingDiffers", OfJob(job, job.binding), now);
  }
  for (const Warning& warning : job.warnings) {
    Find(warning.rule,
         OfJob(job, absl::StrCat("job ", job.label, " ", job.name, " of ", job.user, ": ",
                                 warning.text)),
         now);
  }
  if (IsWaiting(job.state) && job.expected_start != kNoTime && job.expected_start + kLate < now) {
    Find("StartPromiseMissed", OfJob(job, absl::StrCat("job ", job.label, " should have started")),
         now);
  }
}

void AlertTable::Look(const std::vector<NodeView>& nodes, const std::vector<JobView>& jobs,
                      const std::vector<Warning>& controller, Time now) {
  for (auto& [key, entry] : entries_) {
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
}

void AlertTable::Hear(const std::string& json, Time now) {
  const nlohmann::json event = nlohmann::json::parse(json, nullptr, false);
  if (!event.is_object() || !event.contains("data") || !event["data"].is_object()) {
    return;
  }
  const nlohmann::json& data = event["data"];
  const std::string type = event.value("type", "");
  const bool out_of_memory = type == "muster.job.ended" && IsOutOfMemory(data.value("state", ""));
  const bool hung = type == "muster.job.left_node" && data.value("hung", false);
  if (!out_of_memory && !hung) {
    return;
  }
  JobView job;
  job.label = data.value("label", "");
  job.user = data.value("user", "");
  const std::string rule = out_of_memory ? "JobOutOfMemory" : "JobHung";
  Find(rule,
       OfJob(job, absl::StrCat("job ", job.label, " ", data.value("name", ""), " of ", job.user,
                               out_of_memory ? " ran out of memory" : " showed no progress")),
       now);
  if (const auto found = entries_.find({rule, absl::StrCat("job ", job.label)});
      found != entries_.end()) {
    found->second.kept = true;
  }
}

std::vector<Alert> AlertTable::Take(Time now) {
  std::vector<Alert> taken;
  for (auto it = entries_.begin(); it != entries_.end();) {
    Entry& entry = it->second;
    const bool fires = now - entry.alert.since >= settings_.at(it->first.first).hold;
    if (entry.found && (fires || entry.told)) {
      entry.told = true;
      taken.push_back(entry.alert);
    } else if (!entry.found && entry.told) {
      taken.push_back(entry.alert);
      taken.back().ended = now;
    }
    it = entry.found ? std::next(it) : entries_.erase(it);
  }
  return taken;
}

}  // namespace muster::cli
