#pragma once

// Finds instances that a GPU can have together, for what jobs ask.
//
// Pure; the same question has the same answer. Invariants: (1) instances overlap nowhere, and each
// lies where its profile may; (2) of no profile there are more than can be, and together they have
// no more multiprocessors than the GPU; (3) where the site allows certain layouts alone, it is one
// of them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/mig.h"
#include "scheduler/model/settings/mig_class.h"

namespace muster::core {

// The number of instances of a profile that is asked for.
struct MigDemand {
  std::string profile;
  std::uint32_t count = 0;
};

// Has at least one instance of the first demand, and as many as are asked for of that, then of the
// second, and so on; the rest of the GPU in few large instances, so that most of it is of use.
// `allowed`: empty: any. Nothing where the first profile cannot be had.
std::optional<std::vector<MigInstance>> FindLayout(const std::vector<MigProfile>& profiles,
                                                   const std::vector<MigDemand>& demands,
                                                   const std::vector<MigLayout>& allowed);

}  // namespace muster::core
