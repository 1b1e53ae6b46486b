#pragma once

// Refuses a container that the cluster's nodes, as they are, cannot make: an image for machines
// that none of them is, or a name that is taken on all of them.
//
// Invariant: what is not known refuses nothing, for the nodes judge in the end: an agent that is
// older, silent or gone, or a job that does not start now.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "cli/request/job_request.h"
#include "scheduler/model/request/image_questions.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// Asks the nodes, where the request's container gives a reason. FailedPrecondition is one line.
// `environment`: of the program that asks a registry.
absl::Status CheckContainerNodes(Connection& connection, const JobRequest& request,
                                 const std::vector<std::string>& environment);

// The machines of the nodes that run containers, as images call them; empty: one does not say it.
std::vector<std::string> ContainerMachines(const std::vector<NodeView>& nodes);
// The nodes on which a container of that name is in use, when these are all that run containers;
// else none.
std::vector<std::string> NodesThatUse(const std::string& name, const ImageTable& images,
                                      const std::vector<NodeView>& nodes);

}  // namespace muster::cli
