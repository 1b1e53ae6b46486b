#pragma once

// Nodes, partitions, policy and the controller's numbers as slurmrestd shows them.
//
// Pure.

#include <string>
#include <vector>

#include "daemon/gateway/slurm/slurm_values.h"
#include "proto/controller.pb.h"
#include "proto/metrics.pb.h"
#include "proto/policy.pb.h"
#include "proto/view.pb.h"

namespace muster::daemon::slurm {

using Nodes = google::protobuf::RepeatedPtrField<wire::NodeView>;
using Objects = google::protobuf::RepeatedPtrField<wire::PolicyView>;

// `partitions` among others in it.
Json NodeEntry(const wire::NodeView& node, const Objects& partitions);
Json PartitionEntry(const wire::PolicyView& partition, const Nodes& nodes);
Json ReservationEntry(const wire::PolicyView& reservation);
Json AccountEntry(const wire::PolicyView& account);
Json AssociationEntry(const wire::PolicyView& association, const std::string& cluster);
Json QosEntry(const wire::PolicyView& qos);
// Of the users whom associations name.
Json UserEntries(const Objects& associations);
Json PingEntry();
// When the newest cycle of the planner began.
Json LastCycle(const wire::ReadMetricsReply& metrics);
Json Statistics(const wire::ReadMetricsReply& metrics);

}  // namespace muster::daemon::slurm
