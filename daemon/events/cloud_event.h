#pragma once

// A note as CloudEvents 1.0 JSON, as it goes out everywhere.
//
// Invariants: one line of UTF-8, whatever is in the names; `id` is the event's number and `source`
// the cluster, which together are unique.

#include <memory>
#include <string>

#include "daemon/events/event_note.h"

namespace muster::daemon {

// What is known of an event without reading it.
struct CloudEvent {
  Version version;
  const char* type = "";
  JobId job;
  JobId submission;
  std::string user;  // whose job it is of; empty: of no job, for everybody
  std::string json;
};
using CloudEventPtr = std::shared_ptr<const CloudEvent>;

// A note of a job that nobody knows any more is its operator's alone: `user` is then "?".
CloudEvent MakeCloudEvent(const EventNote& note, const std::string& cluster);

}  // namespace muster::daemon
