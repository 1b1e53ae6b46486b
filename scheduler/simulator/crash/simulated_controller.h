#pragma once

// A controller that is alone: its loop, with a journal that commits in batches and a process that
// can die at any point.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders leave only after their
// events are in the journal; (2) death loses everything but the journal, and a commit under way may
// be in or not; (3) a replay of the journal must give the state that was committed, fingerprint for
// fingerprint.

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/model/policy/policy.h"
#include "scheduler/simulator/crash/controller_loop.h"
#include "scheduler/simulator/crash/replay_check.h"

namespace muster::sim {

class SimulatedController final : public ControllerLoop {
 public:
  // `objects`: of the site's policy, configured at each start.
  SimulatedController(const ControllerContext& world, SchedulerConfig policy,
                      std::vector<PolicyObject> objects = {})
      : ControllerLoop(world, 0, std::move(policy)), objects_(std::move(objects)) {}

  void Start();
  // Dies, and comes back in its own time.
  void Die();

  // True when nothing waits to be written or planned, and no job is live.
  [[nodiscard]] bool idle() const {
    return alive() && !writing_.has_value() && rests() && state().jobs().empty();
  }
  [[nodiscard]] const std::vector<JournalEntry>& journal() const { return disk_.entries; }
  // Replays the whole journal and compares the state at commits, every plan and every start, and
  // the state in the end, with what they were.
  void CheckReplay();

 private:
  void WriteSoon() override;
  void CloseGroup();
  void Durable();
  void Keep(Group& group);

  const std::vector<PolicyObject> objects_;
  KeptJournal disk_;
  std::optional<Group> writing_;
  bool write_asked_ = false;
};

}  // namespace muster::sim
