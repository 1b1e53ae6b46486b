#pragma once

// What classes of [power] with a maximum leave of a cluster: which nodes that are off a plan may
// count on, and whether a job could ever have all its nodes on at once.
//
// Pure. Invariants: (1) a plan that counts on no node of BeyondLimits asks for no more nodes of a
// class than may be on beside those that are; (2) NeverOnAtOnce is silent of every job for which
// some choice of the nodes is within the maxima.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/power/power_limits.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// It is neither on nor on its way.
bool HasFailedToBoot(const NodeSnapshot& node);

// By position: the nodes that are off and stay so while as many of their class are on as now. Those
// that are on their way, then those that can be had first, count before the others.
std::vector<std::uint32_t> BeyondLimits(const std::vector<NodeSnapshot>& nodes,
                                        const PowerLimits& limits);

// Why a job that these nodes would hold never has enough of them on at once. `inside`: by position,
// where it may be; null: everywhere.
std::optional<Reason> NeverOnAtOnce(const std::vector<NodeSnapshot>& nodes,
                                    const std::vector<bool>* inside, const ResourceRequest& request,
                                    const PowerLimits& limits);

}  // namespace muster::core
