#pragma once

// A place in time and on nodes that is kept for a waiting job; of a heterogeneous one for all its
// components, from the same time on.
//
// Plain value. The functions take it out of an availability, give it back for a trial, and ask
// where in time it fits. Invariants: (1) there is a part, and all parts begin at one time; (2) a
// trial leaves the availability as it found it.

#include <cstdint>
#include <functional>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/start_options.h"

namespace muster::core {

struct PlacePart {
  JobId job;
  const StartOption* option = nullptr;
  Opening opening;
};

struct JobPlace {
  std::vector<PlacePart> parts;  // one, or one for each component
  Time by = kNoTime;             // the promise
  bool shown = false;            // in the plan

  [[nodiscard]] Time start() const { return parts.front().opening.start; }
  void MoveTo(Time start);
  // Until when the job must have its nodes if it starts then.
  [[nodiscard]] Time NeededUntilFrom(Time start) const;
};

// Where a new place lies in what its promise allows.
enum class Within : std::uint8_t { kEarliest, kLate };

// The need of a place: a shape of its own. It is so much longer than the job's limit that a cycle
// may come late, and a job that was told to end take a moment.
Need PlaceNeed(const Need& need);
// The need of a start instead of the job's place. One without a limit may run as long as its place
// is kept: what is planned beyond that, after its end, keeps it from nothing.
Need NeedInsteadOfPlace(const Need& need, Time now);

// Adds the place's nodes that are not there yet, as they are now.
void NoteNodes(const Availability& availability, const JobPlace& place, NodesBefore& before);

void TakePlace(Availability& availability, const JobPlace& place);
// Asks as if the place were not taken, which it is not any more where the answer is yes. REQUIRES:
// nothing is asked but what Availability::Restore allows.
bool LendPlaceIf(Availability& availability, const JobPlace& place,
                 const std::function<bool()>& asked);
// Whether its nodes take it from then on.
bool FitsFrom(Availability& availability, const JobPlace& place, Time start);
// To as late as the promise allows on its nodes, as far as a few looks tell.
void PutOff(Availability& availability, JobPlace& place);
// They share a node, and it does not begin only after the aim.
bool IsInWayOf(const JobPlace& place, const JobPlace& aim);

}  // namespace muster::core
