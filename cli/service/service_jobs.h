#pragma once

// The replicas of services, as jobs of the controller.
//
// A service is what its jobs say: they have its name, and their comment says that they are its
// replicas. Thread promise: as Connection's. Invariants: only the caller's own live jobs are found,
// oldest first; a replica is ready only by a note of the attempt that runs.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/environment.h"
#include "cli/service/replica/replica_note.h"
#include "scheduler/model/job/job_selector.h"
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
  ReplicaNote note;  // of the attempt that runs; without a state: it has said nothing
  [[nodiscard]] bool ready() const { return note.state == kReplicaReady; }
  [[nodiscard]] bool leaves() const { return note.state == kReplicaLeaving; }
};

// What makes a job a replica of the service.
std::string ReplicaComment(const std::string& service);
// The service of such a comment; "" of others.
std::string ServiceOf(const std::string& comment);
// The job, with what its note says.
ServiceReplica ReplicaOf(const JobView& job, const std::vector<JobNote>& notes);

// Those of one service; of all when that is "".
absl::StatusOr<std::vector<ServiceReplica>> FindReplicas(Connection& connection,
                                                         const std::string& service);
// The same; NotFound when there is none.
absl::StatusOr<std::vector<ServiceReplica>> ReplicasOf(Connection& connection,
                                                       const std::string& service);

// The controller, as changes of one service need it.
struct ServiceCalls {
  std::function<absl::StatusOr<std::vector<ServiceReplica>>()> find;
  std::function<absl::StatusOr<JobId>(std::uint32_t)> add;  // further ones; the array's number
  std::function<absl::Status(const std::vector<ServiceReplica>&)> leave;  // tells readers of it
  std::function<absl::Status(const std::vector<ServiceReplica>&)> cancel;
  std::function<void(Duration)> wait;
};
// Further replicas are as the newest one was submitted; with `script`, run that script of the
// user's. REQUIRES: all arguments outlive it.
ServiceCalls CallsOfService(Connection& connection, const Environment& environment,
                            const std::string& service, const std::string& script);

}  // namespace muster::cli
