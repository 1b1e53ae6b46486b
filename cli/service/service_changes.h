#pragma once

// Scales a service and rolls it over.
//
// Thread promise: as the calls'. Invariants: the note of a replica that is ready says that it
// leaves for the drain's time before it is cancelled; rolling cancels an old one only once a new
// one is ready, and a new one that does not become ready is taken back, which ends the rolling.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "cli/service/service_jobs.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct ChangeTerms {
  Duration patience = std::chrono::minutes(5);  // until a new one is ready
  Duration drain = std::chrono::seconds(5);     // between leaving and the end
};

using TellChange = std::function<void(const std::string&)>;

// To that many: further ones, or without those that came last. REQUIRES: count > 0.
absl::Status ScaleService(const ServiceCalls& calls, std::uint32_t count, const ChangeTerms& terms,
                          const TellChange& tell);

// Each replica in place of one that is new. DeadlineExceeded or FailedPrecondition: a new one did
// not become ready.
absl::Status RollService(const ServiceCalls& calls, const ChangeTerms& terms,
                         const TellChange& tell);

// Tells that they leave, waits, and cancels them.
absl::Status EndReplicas(const ServiceCalls& calls, const std::vector<ServiceReplica>& replicas,
                         Duration drain);

}  // namespace muster::cli
