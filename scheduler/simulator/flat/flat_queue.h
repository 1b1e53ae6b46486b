#pragma once

// The queue of a machine of identical processors, under one of the field's baseline policies.
//
// The caller tells what happens at an instant (Arrive, End) and then asks once for what starts
// (RunCycle); nothing else changes the queue, so a simulation and a live plan ask the same code.
// Jobs are known by small handles of the caller's, which are free again after the cycle that
// follows the job's end. The rules, word for word, are in FlatSemantics() of
// flat/flat_simulation.h. Thread promise: a value; one thread at a time. Invariants: (1) time
// does not go back; (2) no more processors are in use than there are, where a job counts until its
// estimated end or its end, whichever is first; (3) equal calls give equal starts on every machine.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/simulator/flat/flat_policy.h"
#include "scheduler/simulator/flat/timeline.h"

namespace muster::sim {

struct FlatJob {
  std::uint32_t handle = 0;
  std::int64_t processors = 0;  // 1 to the machine's
  Tick submit = 0;
  Tick estimate = 0;       // how long it is planned for; > 0
  Tick limit = 0;          // it ends after this at the latest; > 0
  std::int64_t user = -1;  // whose usage it adds to
  static constexpr auto Fields(auto list) {
    return list(Field{"handle", &FlatJob::handle}, Field{"processors", &FlatJob::processors},
                Field{"submit", &FlatJob::submit}, Field{"estimate", &FlatJob::estimate},
                Field{"limit", &FlatJob::limit}, Field{"user", &FlatJob::user});
  }
};

enum class FlatCause : std::uint8_t {
  kHead = 0,        // it was first in the queue
  kBackfilled = 1,  // it passed others
  kReserved = 2,    // its reservation fell due
};

struct FlatStart {
  std::uint32_t handle = 0;
  FlatCause cause = FlatCause::kHead;
  // The latest start that the job had been promised while it waited; kNever without a promise.
  Tick promised = kNever;
  static constexpr auto Fields(auto list) {
    return list(Field{"handle", &FlatStart::handle}, Field{"cause", &FlatStart::cause},
                Field{"promised", &FlatStart::promised});
  }
};

class FlatQueue {
 public:
  FlatQueue() = default;
  FlatQueue(const FlatQueue&) = delete;
  FlatQueue& operator=(const FlatQueue&) = delete;
  virtual ~FlatQueue() = default;

  // A job joins the queue. REQUIRES: at least one processor and no more than there are.
  virtual void Arrive(const FlatJob& job) = 0;
  // A running job has ended.
  virtual void End(std::uint32_t handle) = 0;
  // The jobs that start at `now`, in the order in which they were chosen; valid until the next
  // call. Every arrival and end since the last cycle counts as of `now`.
  virtual const std::vector<FlatStart>& RunCycle(Tick now) = 0;
  // The next moment at which a cycle would start a job even if nothing happens; kNever if none.
  [[nodiscard]] virtual Tick NextWake() = 0;
  [[nodiscard]] virtual std::size_t waiting() const = 0;
  // All that decides what comes later, for Load(). REQUIRES: no arrival or end since the last
  // cycle.
  [[nodiscard]] virtual std::string Save() const = 0;
  // Goes on where the saved queue stood after its cycle at `now`; false where these are not its
  // bytes. REQUIRES: a queue as MakeFlatQueue gave it, of the same policy and size.
  [[nodiscard]] virtual bool Load(const std::string& bytes, Tick now) = 0;
};

}  // namespace muster::sim
