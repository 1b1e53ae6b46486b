#pragma once

// A replica of a service, as its job shows it.
//
// A service is what its jobs say: they have its name, and their comment says that they are its
// replicas and what was asked of it. Pure. Invariant: a replica is ready only by a note of the
// attempt that runs, and while it is in reach.

#include <optional>
#include <string>
#include <vector>

#include "cli/service/replica/replica_note.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct ServiceReplica {
  std::string service;
  std::string label;  // "12_3"
  JobId id;
  JobSelector job;
  std::string job_state;
  std::string reason;  // why it waits
  std::vector<std::string> nodes;
  ReplicaNote note;   // of the attempt that runs; without a state: it has said nothing
  bool lost = false;  // neither its node nor its program is reached
  std::optional<ServiceTerms> terms = {};  // as the job says them
  [[nodiscard]] bool ready() const { return note.state == kReplicaReady && !lost; }
  // Its end has begun.
  [[nodiscard]] bool leaves() const;
};

// What makes a job a replica of the service.
std::string ReplicaComment(const std::string& service, const ServiceTerms& terms);
// The service of such a comment; "" of others.
std::string ServiceOf(const std::string& comment);
// What such a comment says was asked of it.
std::optional<ServiceTerms> TermsIn(const std::string& comment);
// The job, with what its note says.
ServiceReplica ReplicaOf(const JobView& job, const std::vector<JobNote>& notes);

// Those whose end has not begun.
std::vector<ServiceReplica> Staying(std::vector<ServiceReplica> replicas);
// The latest terms; of replicas that have none, as many as stay.
ServiceTerms TermsOf(const std::vector<ServiceReplica>& replicas);

}  // namespace muster::cli
