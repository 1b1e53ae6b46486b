#pragma once

// What is free of one node from now on, in counts: cores, memory and GPUs by model.
//
// The planner looks here for when a job could start; which cores and GPUs it gets is decided by
// core/place/placement when it does. Thread promise: plain value, owned by one cycle. Invariants:
// (1) segments are sorted by `from`, the first begins at the cycle's now, the last has no end; (2)
// no amount falls below zero.

#include <array>
#include <cstdint>
#include <vector>

#include "scheduler/core/state/tables/node_use.h"
#include "scheduler/model/value/gres.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::core {

// When jobs without a limit are taken to end: later than all others, so that what is planned after
// them is kept free of further jobs without a limit and of nothing else.
inline constexpr Time kHorizon{std::chrono::milliseconds{std::int64_t{1} << 59}};
// The end of what begins at the horizon: never.
inline constexpr Time kFarFuture{std::chrono::milliseconds{std::int64_t{1} << 60}};

// Models of GPU that are distinguished on one node; further ones count as the last.
inline constexpr std::size_t kGpuModels = 4;
// Countable things, in the order of the node's own list.
using GresAmounts = std::array<std::uint32_t, kGresKinds>;

struct FreeAmounts {
  std::uint32_t cores = 0;
  std::array<std::uint16_t, kGpuModels> gpus{};    // of which no job has a share
  std::array<std::uint32_t, kGpuModels> shares{};  // thousandths, those of whole GPUs among them
  Bytes memory;
  GresAmounts gres{};
  NodeUsers users;  // whose jobs are there; nobody's where it does not matter
  friend bool operator==(const FreeAmounts&, const FreeAmounts&) = default;
};

// Cores, and GPUs of whatever model, over many nodes: an amount, or by how much one changes.
struct CoresAndGpus {
  std::int64_t cores = 0;
  std::int64_t gpus = 0;
  CoresAndGpus& operator+=(const CoresAndGpus& other) {
    cores += other.cores;
    gpus += other.gpus;
    return *this;
  }
  CoresAndGpus& operator-=(const CoresAndGpus& other) {
    cores -= other.cores;
    gpus -= other.gpus;
    return *this;
  }
  friend CoresAndGpus operator-(CoresAndGpus a, const CoresAndGpus& b) { return a -= b; }
  // Whether so much is in it.
  [[nodiscard]] bool Holds(const CoresAndGpus& other) const {
    return cores >= other.cores && gpus >= other.gpus;
  }
};

// From a time on so much more is free, or less.
struct FreeChange {
  Time at = kNoTime;
  CoresAndGpus more;
};

// What a job's part on one node takes.
struct NodeDemand {
  std::uint32_t cores = 0;
  std::uint32_t gpus = 0;
  std::uint32_t shares = 0;      // thousandths of GPUs, when it asks for no whole ones
  std::uint32_t gpu_models = 0;  // bit i: models of position i will do
  Bytes memory;
  GresAmounts gres{};
  std::uint32_t user = kAnyUser;  // the job's
  bool alone = false;             // beside jobs of this user only
};

// GPUs of the models in the mask.
std::uint32_t CountGpus(const FreeAmounts& amounts, std::uint32_t gpu_models);
// Thousandths of GPUs of the models in the mask.
std::uint32_t CountShares(const FreeAmounts& amounts, std::uint32_t gpu_models);
// Shares are counted in their sum: whether one GPU has so much of it left is placement's question.
bool Holds(const FreeAmounts& amounts, const NodeDemand& demand);

class NodeTimeline {
 public:
  NodeTimeline() = default;
  NodeTimeline(const FreeAmounts& free, Time now) : segments_{{now, free}} {}

  // The time before `now` is over. REQUIRES: nothing changes until then, and it is not before the
  // present start.
  void StartAt(Time now) { segments_.front().from = now; }
  // From `when` on so much more is free, at most `all`. A time in the past counts as now.
  void Release(Time when, const FreeAmounts& amounts, const FreeAmounts& all);
  // In [from, until) so much more is free, at most `all`. REQUIRES: from is not before now.
  void Lend(const FreeAmounts& amounts, Time from, Time until, const FreeAmounts& all);
  // [from, until) has the demand taken out of it. REQUIRES: from is not before now.
  void Take(const NodeDemand& demand, Time from, Time until);

  // In [from, until) a GPU of the model of which no job had a share becomes one of which a job has.
  void BreakGpu(std::size_t model, Time from, Time until);

  // In [now, until) the node has a job of the user; what Take says of users is on top of that.
  void AddUser(std::uint32_t user, bool alone, Time until);
  // Only what Take said of users counts.
  void ForgetUsers();
  // Nor does what Take said of this demand's. Nothing where it said nothing of the like.
  void TakeBackUser(const NodeDemand& demand, Time from, Time until);

  // No more is free at any time than in `other`.
  void CapBy(const NodeTimeline& other);

  // Appends the times at which something changes, now among them.
  void AppendTimes(std::vector<Time>& times) const;
  // The same with what changes then; now what is free counts as more.
  void AppendChanges(std::vector<FreeChange>& changes) const;

  [[nodiscard]] const FreeAmounts& now() const { return segments_.front().free; }
  // The least of each amount within [from, until).
  [[nodiscard]] FreeAmounts Least(Time from, Time until) const;
  // Whether what is free now is the least of each amount, whenever.
  [[nodiscard]] bool IsLeastNow() const;
  // The first time from `from` on at which the demand is free for so long; kFarFuture for never.
  [[nodiscard]] Time EarliestFit(const NodeDemand& demand, Time from, Duration duration) const;
  // A time up to which every start from `start` on does as well; perhaps not the last such.
  // REQUIRES: EarliestFit answered `start`.
  [[nodiscard]] Time FitsUntil(const NodeDemand& demand, Time start, Duration duration) const;

 private:
  struct Segment {
    Time from;
    FreeAmounts free;
    NodeUsers held_by = {};  // of the users, those that Take did not name
  };
  struct UserThere {
    std::uint32_t user = kAnyUser;
    bool alone = false;
    Time from;
    Time until;
    friend bool operator==(const UserThere&, const UserThere&) = default;
  };
  // The position of the segment that begins at `when`, made by a split where there is none.
  std::size_t Split(Time when);
  [[nodiscard]] std::size_t At(Time when) const;

  void SetUsers(Segment& segment) const;

  std::vector<Segment> segments_;
  std::vector<UserThere> taken_by_;  // whom Take named
};

// A time limit as planning takes it: zero, no limit, for those of a century and more (UNLIMITED).
Duration PlannedDuration(Duration time_limit);
// Until when something that lasts that long holds what it has; zero is no limit.
Time EndOf(Time start, Duration duration);
// Until when it must be let have it: without a limit, for ever.
Time NeededUntil(Time start, Duration duration);

}  // namespace muster::core
