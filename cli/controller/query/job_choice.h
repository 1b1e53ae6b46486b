#pragma once

// Which jobs a reader chooses: by user, account, partition, QOS, name, state, node, reservation,
// licence and number.
//
// Pure. Invariant: an empty list chooses all.

#include <string>
#include <vector>

#include "cli/parse/selector.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct JobChoice {
  std::vector<std::string> users;  // names or numbers
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> qos;
  std::vector<std::string> names;
  std::vector<std::string> states;  // canonical names
  std::vector<std::string> nodes;   // a job that has any of them
  std::vector<std::string> reservations;
  std::vector<std::string> licenses;
  std::vector<JobSelector> jobs;
};

bool Chooses(const JobChoice& choice, const JobView& job);

// Whether the selector names the job.
bool Names(const JobSelector& selector, const JobView& job);

// The jobs of `jobs` that `selectors` name (all, when there are none).
std::vector<JobView> Select(const std::vector<JobView>& jobs,
                            const std::vector<JobSelector>& selectors);

}  // namespace muster::cli
