#pragma once

// Which nodes a job may use at all, and which it must: features, node lists, exclusions, counts.
//
// The planner, the explanation and the verification of a placement ask the same two questions here.
// Invariants: NodeMay does not depend on what is taken of the node, nor on other nodes.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/feature_expression.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// Letters, digits, ".", "_" and "-", at most 64.
bool IsFeatureName(const std::string& name);

// REQUIRES: `features` is sorted, the expression complete.
bool Matches(const FeatureExpression& expression, const std::vector<std::string>& features);

// True when the job may use the node as far as its request names or describes nodes.
bool NodeMay(const NodeSnapshot& node, const ResourceRequest& request);

// True when the node takes no such job for now: it is drained, or it is narrow and the job may span
// nodes.
bool IsKeptOff(const NodeSnapshot& node, const ResourceRequest& request);
bool MaySpanNodes(const ResourceRequest& request);

// What keeps the node from the job, when NodeMay is false.
std::optional<Shortage> WhyNodeMayNot(const NodeSnapshot& node, const ResourceRequest& request);

// Whether NodeMay could be false for any node.
bool DescribesNodes(const ResourceRequest& request);

// Whether the request says anything of which nodes there must be among those that it gets.
bool NamesNodes(const ResourceRequest& request);

// The positions in `nodes` (best first; all of them able to take a part of the job) that the job
// must have: the nodes of its list, and the best ones for each count; those that count more than
// once before them where it has not as many nodes, or not a task for each. Nothing when they cannot
// be had.
std::optional<std::vector<std::size_t>> MustHave(const std::vector<const NodeSnapshot*>& nodes,
                                                 const ResourceRequest& request);

// What of MustHave cannot be had of these nodes, for a reason.
std::vector<Shortage> WhyNotHad(const std::vector<const NodeSnapshot*>& nodes,
                                const ResourceRequest& request);

}  // namespace muster::core
