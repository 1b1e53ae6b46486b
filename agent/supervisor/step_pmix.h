#pragma once

// What a step wants of its PMIx namespace; the supervisor's pmix_steps makes them.
//
// Thread promise: called by the loop's thread. Invariant: while it lives the ranks can talk to the
// server; its end forgets the namespace.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

class StepPmix {
 public:
  StepPmix() = default;
  StepPmix(const StepPmix&) = delete;
  StepPmix& operator=(const StepPmix&) = delete;
  virtual ~StepPmix() = default;

  // "NAME=value" to add to the environment of rank `rank`.
  [[nodiscard]] virtual absl::StatusOr<std::vector<std::string>> RankEnv(
      std::uint32_t rank) const = 0;
  // True when the rank joined the others and has not said goodbye: if it ends like that, they would
  // wait for it for ever.
  [[nodiscard]] virtual bool Joined(std::uint32_t rank) const = 0;
};

// What a step gets of PMIx.
struct PmixGrant {
  std::unique_ptr<StepPmix> pmix;           // null: the ranks run without it
  absl::Status refusal = absl::OkStatus();  // not OK: the step asked for it and cannot have it
  std::string note;                         // why it is not there although it could be wanted
};

}  // namespace muster
