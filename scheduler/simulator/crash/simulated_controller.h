#pragma once

// A controller that is alone: its loop, with a journal that commits in batches and a process that
// can die at any point.
//
// Thread promise: none; one thread. Invariants: (1) answers and orders leave only after their
// events are in the journal; (2) death loses everything but the journal, and a commit under way may
// be in or not; (3) a replay of the journal must give the state that was committed, fingerprint for
// fingerprint.

#include <functional>
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

  // Has its operator look after it each time that an old copy of its state was put in place.
  void OnRestored(std::function<void()> look) { restored_ = std::move(look); }

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

  // Goes on with the state as a store loads it, of which damaged copies are found out.
  void LoadRows();
  // Puts an old copy of the journal in place, and takes it over.
  void Restore();
  void TakeOver();

  const std::vector<PolicyObject> objects_;
  std::function<void()> restored_ = [] {};
  bool restores_ = false;
  struct {
    Epoch epoch;
    JobId next_job;
  } highest_;  // that any of its lives had
  KeptJournal disk_;
  std::optional<StateImage> image_;  // of its state when it first came back
  std::optional<Group> writing_;
  bool write_asked_ = false;
};

}  // namespace muster::sim
