#pragma once

// Records of `scontrol show`: jobs, nodes, partitions, reservations, steps, licences, associations,
// as KEY=VALUE words.
//
// Pure, except for the names and numbers of users and groups. Invariants: no value has a blank in
// it or is empty, except of a node that has none; a record is the same words on one line and on
// several.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/slurm/format/amounts.h"
#include "scheduler/model/job/license.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct RecordScene {
  Clockface clock = {};
  Time now = kNoTime;
  bool one_line = false;
  bool details = false;
};

// `elements`: of an array, that wait together.
std::string JobRecord(const JobDetail& detail, const std::vector<std::uint64_t>& elements,
                      const RecordScene& scene);
std::string StepRecord(const JobDetail& detail, const StepView& step, const RecordScene& scene);
std::string NodeRecord(const NodeView& node, const std::vector<PolicyView>& partitions,
                       const RecordScene& scene);
std::string PartitionRecord(const PolicyView& partition, const std::vector<NodeView>& nodes,
                            const RecordScene& scene);
std::string ReservationRecord(const PolicyView& reservation, const RecordScene& scene);
std::string LicenseRecord(const LicenseState& license, const RecordScene& scene);

// Which records of "show assoc_mgr"; an empty list: all.
struct AssociationFilter {
  std::vector<std::string> users = {};
  std::vector<std::string> accounts = {};
  std::vector<std::string> qos = {};
  std::vector<std::string> parts = {};  // "users", "assoc", "qos"
};
// Of accounts, associations and QOS: their limits, and what is used of each. "N" is no limit.
std::string AssociationPage(const std::vector<PolicyView>& objects, const std::string& cluster,
                            const AssociationFilter& filter, const RecordScene& scene);

}  // namespace muster::cli::slurm
