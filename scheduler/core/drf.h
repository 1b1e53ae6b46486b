#pragma once

// Dominant Resource Fairness: who is next, where users want different resources.
//
// Ghodsi, Zaharia, Hindman, Konwinski, Shenker, Stoica, "Dominant Resource Fairness: Fair
// Allocation of Multiple Resource Types", NSDI 2011, algorithm 1 (progressive filling): the next
// task goes to the user whose dominant share, the largest part of any resource that the user holds,
// over the user's weight, is least. As in practice and unlike algorithm 1, a user whose next task
// does not fit drops out and the others go on, so that nothing is left that anybody could use.
// Shares are compared as fractions of integers; the first in the list wins a tie. Thread promise:
// pure.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/model/fields.h"

namespace muster {

inline constexpr std::uint64_t kNoTaskLimit = ~std::uint64_t{0};

// What one task of a user needs, in the order of the capacities.
struct DrfDemand {
  std::vector<std::uint64_t> task;
  std::uint64_t weight = 1;
  std::uint64_t tasks_max = kNoTaskLimit;
  static constexpr auto Fields(auto list) {
    return list(Field{"task", &DrfDemand::task}, Field{"weight", &DrfDemand::weight},
                Field{"tasks_max", &DrfDemand::tasks_max});
  }
  friend bool operator==(const DrfDemand&, const DrfDemand&) = default;
};

struct DrfFilling {
  std::vector<std::size_t> order;     // the user of each task, by index
  std::vector<std::uint64_t> tasks;   // of each user
  std::vector<std::uint64_t> used;    // of each resource
  std::size_t before_first_drop = 0;  // tasks of `order` before anybody's did not fit
  static constexpr auto Fields(auto list) {
    return list(Field{"order", &DrfFilling::order}, Field{"tasks", &DrfFilling::tasks},
                Field{"used", &DrfFilling::used},
                Field{"before_first_drop", &DrfFilling::before_first_drop});
  }
  friend bool operator==(const DrfFilling&, const DrfFilling&) = default;
};

// Fills `capacity` until nothing fits or `tasks_max` tasks are out. REQUIRES: every task has as
// many resources as the cluster and needs something; weights are not 0.
DrfFilling FillByDominantShare(const std::vector<std::uint64_t>& capacity,
                               const std::vector<DrfDemand>& demands, std::size_t tasks_max);

// How many tasks each user would get if tasks could be divided at will: all dominant shares grow
// alike, by weight, and a user stops when a resource that it needs is used up. This is the
// allocation of which the paper proves sharing incentive, strategy-proofness, Pareto efficiency and
// envy-freeness (section 3); whole tasks come near it. For people, not for decisions: it is made of
// binary fractions. REQUIRES: as above; tasks_max of demands does not count.
std::vector<double> DivisibleDrf(const std::vector<std::uint64_t>& capacity,
                                 const std::vector<DrfDemand>& demands);

}  // namespace muster
