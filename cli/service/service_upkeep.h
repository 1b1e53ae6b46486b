#pragma once

// What is to be done so that a service has as many replicas as were asked for.
//
// Pure. Invariants: a difference is acted on only once it has lasted for two seconds, so that a
// change that others are making is not answered by its opposite; a replica that is lost counts as
// there until it has been lost for the given time, and is ended once all that were asked for are
// ready without it; while what is added does not last, the pauses before more is added double up to
// five minutes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cli/service/service_calls.h"
#include "cli/service/service_replica.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {

struct UpkeepStep {
  std::uint32_t add = 0;
  std::vector<ServiceReplica> end = {};
};

class ServiceUpkeep {
 public:
  explicit ServiceUpkeep(Duration lost_after) : lost_after_(lost_after) {}

  // `wall` and `now` are the same moment.
  UpkeepStep Look(const ServiceNow& service, Time wall, SteadyTime now);

 private:
  void NoteLost(const std::vector<ServiceReplica>& replicas, SteadyTime now);
  [[nodiscard]] bool IsGone(const ServiceReplica& replica, SteadyTime now) const;
  // Whether the service has been like that for long enough.
  static bool Lasts(bool so, SteadyTime now, std::optional<SteadyTime>* since);
  void NoteWhole(bool whole, SteadyTime now);
  // Without a pause.
  void BeginAdding(SteadyTime now);

  const Duration lost_after_;
  std::map<JobId, SteadyTime> lost_since_;
  std::optional<SteadyTime> few_since_;
  std::optional<SteadyTime> many_since_;
  std::optional<SteadyTime> whole_since_;
  std::size_t asked_ = 0;  // at the last look
  Duration pause_{0};
  SteadyTime next_add_;
};

}  // namespace muster::cli
