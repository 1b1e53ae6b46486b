#pragma once

// What users ask for beyond a number of cores: memory, whole nodes, nodes by name, GPUs in each of
// the ways, licences, alternatives, accounts and partitions.
//
// For simulated lives that are to go everywhere, not a model of a real load. Thread promise: pure
// but for the sequence. Invariants: the same sequence gives the same requests; a request is one
// that a user could write, though the site may refuse it.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What there is to ask for.
struct WishList {
  std::uint32_t nodes = 0;  // node1, node2, …
  std::uint32_t cpus_per_node = 0;
  std::uint32_t gpus_per_node = 0;
  Bytes memory_per_node;
  std::vector<std::string> accounts;
  std::vector<std::string> partitions;
  std::vector<std::string> qos;
  std::vector<std::string> licenses;
};

// Changes the job into one with some of them. REQUIRES: it asks for nodes and cores.
void AddWishes(const WishList& list, Time now, RandomSequence& random, JobSpec* spec);

// After one or two of these jobs, or of its own name alone. REQUIRES: some jobs.
Dependency DrawDependency(const std::vector<JobId>& jobs, RandomSequence& random);

}  // namespace muster::sim
