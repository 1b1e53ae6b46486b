#pragma once

// Who may use what: partitions, accounts and QOS, by name.
//
// Asked when a job is submitted and again whenever it could start: policy changes meanwhile.
// Invariant: an error is one line that names the option.

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/policy/policy.h"

namespace muster::core {

// Whether the spec's account and QOS may use the partition.
absl::Status MayUsePartition(const Partition& partition, const JobSpec& spec);
// Whether the spec's user is in its account, and may name its QOS there. NotFound concerns the QOS.
absl::Status MayUseAccountAndQos(const SitePolicy& site, const JobSpec& spec);

// The first names of a policy's objects, for an error line.
template <class T>
std::string KnownNames(const std::map<std::string, T>& objects) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> names;
  for (const auto& [name, object] : objects) {
    names.push_back(names.size() == kShown ? "…" : name);
    if (names.size() > kShown) {
      break;
    }
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace muster::core
