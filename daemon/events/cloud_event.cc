#include "daemon/events/cloud_event.h"

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"

namespace muster::daemon {
namespace {

using Json = nlohmann::ordered_json;

// A job's own words about news, with what it asked for only: an address is its owner's matter, and
// who sees the event is its owner or an operator.
void AddJob(const EventNote& note, Json& data) {
  data["job"] = note.job.value();
  if (!note.knows_job()) {
    return;
  }
  const JobFacts& facts = note.facts;
  data["label"] = facts.label;
  if (facts.submission != note.job) {
    data["array_job"] = facts.submission.value();
  }
  data["name"] = facts.name;
  data["user"] = facts.user;
  data["account"] = facts.account;
  data["partition"] = facts.partition;
  if (!facts.notices.empty()) {
    data["notices"] = facts.notices;
  }
}

bool AboutNode(const EventNote& note) {
  return note.node.valid() || !note.node_name.empty();
}

std::string SubjectOf(const EventNote& note) {
  if (note.job.valid()) {
    return absl::StrCat("job/", note.job.value());
  }
  return AboutNode(note) ? absl::StrCat("node/", note.node_name) : std::string();
}

}  // namespace

CloudEvent MakeCloudEvent(const EventNote& note, const std::string& cluster) {
  Json data = Json::object();
  if (note.job.valid()) {
    AddJob(note, data);
  }
  if (AboutNode(note)) {
    data["node"] = note.node_name;
  }
  for (const auto& [name, value] : note.data) {
    std::visit([&data, key = name](const auto& held) { data[key] = held; }, value);
  }
  Json event = {{"specversion", "1.0"},
                {"id", absl::StrCat(note.version.value())},
                {"source", absl::StrCat("/muster/", cluster)},
                {"type", note.type}};
  if (const std::string subject = SubjectOf(note); !subject.empty()) {
    event["subject"] = subject;
  }
  event["time"] = IsoText(note.time);
  event["datacontenttype"] = "application/json";
  event["data"] = std::move(data);
  return {note.version,
          note.type,
          note.job,
          note.job.valid() ? note.facts.submission : JobId(),
          !note.job.valid()  ? ""
          : note.knows_job() ? note.facts.user
                             : "?",
          event.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace muster::daemon
