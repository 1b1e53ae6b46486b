#include "cli/controller/query/job_choice.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/contains.h"

namespace muster::cli {
namespace {

// Whether the list has any of the pieces of `text`, each of which ends at `end`.
bool HasAny(const std::vector<std::string>& list, const std::vector<std::string>& pieces) {
  return list.empty() || std::any_of(pieces.begin(), pieces.end(),
                                     [&list](const std::string& one) { return Admits(list, one); });
}

std::vector<std::string> LicenseNames(const std::string& licenses) {
  std::vector<std::string> names;
  for (const auto piece : absl::StrSplit(licenses, ',', absl::SkipEmpty())) {
    names.emplace_back(piece.substr(0, piece.find(':')));
  }
  return names;
}

bool IsNamed(const std::vector<JobSelector>& selectors, const JobView& job) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&job](const JobSelector& one) { return Names(one, job); });
}

}  // namespace

bool Names(const JobSelector& selector, const JobView& job) {
  if (selector.component.has_value()) {
    return job.het_size > 0 && job.het_job == selector.job && job.het_offset == *selector.component;
  }
  if (selector.elements.empty()) {
    return job.id == selector.job || job.array_job_id == selector.job;
  }
  return job.array_job_id == selector.job &&
         std::any_of(
             selector.elements.begin(), selector.elements.end(),
             [&job](std::uint32_t element) { return job.array_task_id == absl::StrCat(element); });
}

std::vector<JobView> Select(const std::vector<JobView>& jobs,
                            const std::vector<JobSelector>& selectors) {
  std::vector<JobView> selected;
  std::copy_if(
      jobs.begin(), jobs.end(), std::back_inserter(selected),
      [&selectors](const JobView& job) { return selectors.empty() || IsNamed(selectors, job); });
  return selected;
}

bool Chooses(const JobChoice& choice, const JobView& job) {
  return (Admits(choice.users, job.user) || Admits(choice.users, absl::StrCat(job.uid))) &&
         Admits(choice.accounts, job.account) &&
         (choice.partitions.empty() ||
          HasAny(choice.partitions, absl::StrSplit(job.partition, ','))) &&
         Admits(choice.qos, job.qos) && Admits(choice.names, job.name) &&
         Admits(choice.states, job.state) && HasAny(choice.nodes, job.nodes) &&
         Admits(choice.reservations, job.reservation) &&
         (choice.licenses.empty() || HasAny(choice.licenses, LicenseNames(job.licenses))) &&
         (choice.jobs.empty() || IsNamed(choice.jobs, job));
}

}  // namespace muster::cli
