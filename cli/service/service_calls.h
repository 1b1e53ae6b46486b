#pragma once

// The controller, as changes of one service need it.
//
// Thread promise: as Connection's. Invariants: further replicas are submitted as the newest was
// that stays, also when none is left whose submission was seen before; what is asked of the service
// stands in all its live jobs, and of one without any in the one that was newest.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/frame/environment.h"
#include "cli/service/service_replica.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct ServiceNow {
  std::vector<ServiceReplica> replicas;
  ServiceTerms terms;
};

struct ServiceCalls {
  std::function<absl::StatusOr<ServiceNow>()> find;
  std::function<absl::Status(const ServiceTerms&)> ask;     // that it be so from now on
  std::function<absl::StatusOr<JobId>(std::uint32_t)> add;  // further ones; the array's number
  std::function<absl::Status(const std::vector<ServiceReplica>&)> leave;  // tells readers of it
  std::function<absl::Status(const std::vector<ServiceReplica>&)> cancel;
  // What each replica that is ready reports on average, of those that do.
  std::function<absl::StatusOr<std::vector<double>>(const std::vector<ServiceReplica>&,
                                                    const ScaleRule&)>
      reported;
  std::function<Time()> now;
  std::function<void(Duration)> wait;
};

// With `script`, further replicas run that script of the user's. Its `find` is NotFound when there
// is no such service: no replica lives, and none of the last day's is one of a service that was not
// stopped. REQUIRES: the connection and the environment outlive it.
ServiceCalls CallsOfService(Connection& connection, const Environment& environment,
                            const std::string& service, const std::string& script);

}  // namespace muster::cli
