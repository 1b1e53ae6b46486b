#pragma once

// Licences in use: what the jobs that hold resources hold of them.
//
// Thread promise: none; part of a cluster state. Invariants: (1) changed only by ClusterState's
// Apply; (2) what is in use is the sum over the jobs with an attempt.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/job/job.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

class LicenseTable {
 public:
  void Take(const Job& job);
  void Free(const Job& job);
  // Sorted by name.
  [[nodiscard]] std::vector<LicenseUse> Uses() const;

 private:
  struct Use {
    std::uint64_t used = 0;
    std::map<JobId, std::uint64_t> holders;
  };
  std::map<std::string, Use> uses_;
};

// What is left of the licences while a cycle or a plan hands them out.
class LicenseCounts {
 public:
  explicit LicenseCounts(const std::vector<LicenseUse>& uses);
  // The first licence of which too few are left, as a reason.
  [[nodiscard]] std::optional<Reason> WhyShort(const JobSpec& spec,
                                               const SchedulerConfig& config) const;
  void Take(JobId job, const JobSpec& spec);

 private:
  std::map<std::string, LicenseUse> uses_;
};

// How many of a licence the cluster has; 0 for one that it does not know.
std::uint64_t TotalOf(const SchedulerConfig& config, const std::string& name);

// Refuses licences that the cluster does not have, or fewer of.
absl::Status CheckLicenses(const std::vector<LicenseCount>& licenses,
                           const SchedulerConfig& config);

}  // namespace muster::core
