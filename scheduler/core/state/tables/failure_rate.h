#pragma once

// How often a node fails the attempts that it is given, beside the nodes of its class.
//
// Failures are Poisson with a rate of their own for each node. The class's rate is learned from the
// other nodes over a prior of one failure in 50,000 hours; the node's own begins at that rate and
// with the weight of one failure (Gamma prior), so that few failures in little time prove nothing.
// What counts is the posterior probability that a node fails more than three times as often as its
// class. Only failures that no user can cause are counted: a supervisor that died, a node that
// restarted or lost its record. The last two are losses as well: nothing that lay on the node can
// be used by what runs next. Invariant: there are no more losses than failures.

#include <cstdint>
#include <vector>

#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/value/time.h"

namespace muster::core {

// Lets all counts fade, by a fiftieth for each whole day since they last did.
void Fade(FailureTally& tally, Time now);

// An attempt ended on the node after `ran`. Failures within ten minutes of one another are one.
void NoteEnd(FailureTally& tally, EndCause cause, Duration ran, Time now);

// The probability, in thousandths, that `node` fails more than three times as often as `others`.
std::uint32_t SickPermille(const FailureTally& node, const std::vector<FailureTally>& others);

// How often a node of a class is expected to fail in an hour, given what was seen of the class: the
// mean of the posterior Gamma(1 + failures, 50,000 h + exposure).
double FailuresPerHour(const FailureTally& all_of_class);

// The same of losses. Of the prior's one failure half is one (a Dirichlet share of 1/2 each), so
// that it is the mean of the posterior Gamma(1/2 + losses, 50,000 h + exposure).
double LossesPerHour(const FailureTally& all_of_class);

// From here on a node is taken for sick.
inline constexpr std::uint32_t kSickPermille = 950;

}  // namespace muster::core
