#pragma once

// Turns an event of the journal into what readers outside get.
//
// Invariants: what only the program of a job knows (its script, environment, token) is in no note;
// a note says whose job it is of before it leaves.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::daemon {

// Which job an event is of.
struct JobFacts {
  JobId job;
  JobId submission;  // the first id of its array; its own
  std::string label;
  std::string name;
  std::string user;
  std::string account;
  std::string partition;  // where it runs, or those it named
  // What the user asked about news of the job: "mail-type=END", "mail-user=ada", "notify=URL".
  std::vector<std::string> notices;
};

using NoteValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>>;

struct EventNote {
  Version version;
  const char* type = "";  // "muster.job.started"
  Time time = kNoTime;
  JobId job;              // none: it is of no job
  NodeId node;            // none: of no node, or `node_name` says which
  std::string node_name;  // of `node`
  JobFacts facts;         // of `job`; without a user: not known yet
  std::vector<std::pair<const char*, NoteValue>> data;

  [[nodiscard]] bool knows_job() const { return !job.valid() || !facts.user.empty(); }
};

// Nothing: nobody outside needs the event.
std::optional<EventNote> NoteOf(const Event& event);
// The same, with what the state knows of the job or node; the event is about to happen to it.
std::optional<EventNote> NoteOf(const Event& event, const core::ClusterState& state);

JobFacts FactsOf(const Job& job);
// Of an ended job, which the state does not have any more.
JobFacts FactsOf(const JobView& view, const std::vector<std::string>& recorded);

}  // namespace muster::daemon
