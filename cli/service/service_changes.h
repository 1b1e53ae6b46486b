#pragma once

// Scales a service, rolls it over and ends it.
//
// Thread promise: as the calls'. Invariants: the note of a replica that is ready says that it
// leaves for the drain's time before it is cancelled; rolling cancels old ones only once as many
// new ones are ready, and new ones that do not become ready are taken back, which ends the rolling;
// what was asked is said in such an order that who keeps the service meanwhile does not undo it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/service/service_calls.h"
#include "cli/service/service_replica.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct ChangeTerms {
  Duration patience = std::chrono::minutes(5);  // until new ones are ready
  Duration drain = std::chrono::seconds(5);     // between leaving and the end
};

using TellChange = std::function<void(const std::string&)>;

// The replicas, those first that are the last to go: in reach before lost, ready before not,
// older before newer.
std::vector<ServiceReplica> BestFirst(std::vector<ServiceReplica> replicas);

// To that many for good: further ones, or without the last of BestFirst. REQUIRES: count > 0.
absl::Status ScaleService(const ServiceCalls& calls, std::uint32_t count, const ChangeTerms& terms,
                          const TellChange& tell);

// From now on as many as the rule says, which `muster service keep` follows; within its bounds at
// once.
absl::Status ScaleByRule(const ServiceCalls& calls, const ScaleRule& rule, const ChangeTerms& terms,
                         const TellChange& tell);

// Each replica in place of one that is new, `rolling` at a time; 0: as many as the service's terms
// say. DeadlineExceeded or FailedPrecondition: new ones did not become ready.
absl::Status RollService(const ServiceCalls& calls, std::uint32_t rolling, const ChangeTerms& terms,
                         const TellChange& tell);

// All of it; the number of replicas that there were.
absl::StatusOr<std::size_t> StopService(const ServiceCalls& calls);

// Tells that they leave, waits, and cancels them.
absl::Status EndReplicas(const ServiceCalls& calls, const std::vector<ServiceReplica>& replicas,
                         Duration drain);

}  // namespace muster::cli
