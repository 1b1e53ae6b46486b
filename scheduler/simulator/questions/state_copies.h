#pragma once

// A state as a store would hand it back, and copies of it that are damaged in one place: the
// checkers of invariants must say of each that it is.
//
// Thread promise: pure but for the sequence. Invariants: (1) an image loads as a state of the same
// hash; (2) each damage is one that no sound state has.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/change/state_image.h"
#include "scheduler/model/job/dependency.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// What a store keeps besides the state: the jobs that have ended, and the tokens of requests.
class KeptRows {
 public:
  // The event is about to be applied to the state.
  void Note(const core::ClusterState& state, const Event& event);
  // Says in it what an accounting knows of the jobs that it names.
  void Tell(Command* command) const;
  // The state in which all that was noted was applied.
  [[nodiscard]] StateImage ImageOf(const core::ClusterState& state) const;

 private:
  struct EndedJob {
    JobId id;
    JobId submission;
    std::optional<std::uint32_t> array_index;
    Time started = kNoTime;
    bool success = false;
  };
  void AddHistories(const Dependency& dependency, std::vector<TargetHistory>* histories) const;

  std::vector<EndedJob> ended_;
  std::vector<TokenOwner> tokens_;
};

// A damage of which the checkers of invariants say nothing. REQUIRES: the image of a sound state.
std::optional<std::string> UnseenDamage(const StateImage& image, RandomSequence& random);

}  // namespace muster::sim
