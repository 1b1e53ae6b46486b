#pragma once

// The newest reports of nodes about their GPUs: what these do, take, and which errors they had.
//
// In memory alone: a restarted controller begins with none. Thread promise: one owner, LiveUsage,
// which locks; RareOccupants from any thread. Invariants: a node's report replaces its earlier one;
// of a GPU whose library does not tell a number it is not there, and never 0; a node is believed
// for kGpusMax GPUs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/agent.pb.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// One GPU, as its node tells it.
struct GpuSample {
  std::string gpu;                               // its UUID
  std::optional<std::uint64_t> uncorrected_ecc;  // errors since its driver was loaded
  std::uint64_t xid = 0;                         // the newest
  std::optional<std::uint64_t> xids = {};        // how many since the agent's start
  std::optional<std::uint64_t> corrected_ecc = {};
  std::optional<Bytes> memory_used = {};
  std::optional<std::uint64_t> power_mw = {};
  std::optional<int> celsius = {};
  std::optional<std::uint32_t> busy_percent = {};
  std::optional<std::uint64_t> energy_mj = {};  // since its driver was loaded
  std::optional<GpuPace> pace = {};
  std::optional<std::uint32_t> lost_links = {};  // NVLinks that were up and are not
};
std::vector<GpuSample> ReadGpuSamples(const wire::UsageSamples& message);

// Who uses the node's GPUs outside of jobs; nothing where it does not say. A node is believed for
// kGpuOccupantsMax processes with names of 64 bytes.
std::optional<TakeGpuOccupants> ReadGpuOccupants(NodeId node, const wire::UsageSamples& message);
// The same where the state has it otherwise.
std::optional<TakeGpuOccupants> NewsOf(const std::optional<TakeGpuOccupants>& said,
                                       const core::ClusterState& state);

// The sums over those GPUs of a node that tell the number.
struct GpuSums {
  std::optional<std::uint64_t> corrected_ecc = {};
  std::optional<std::uint64_t> uncorrected_ecc = {};
  std::optional<std::uint64_t> xids = {};
  std::optional<std::uint64_t> memory_used = {};  // bytes
  std::optional<std::uint64_t> power_mw = {};
  std::optional<std::uint64_t> busy_percent = {};
  std::optional<std::uint64_t> energy_mj = {};
  std::optional<int> hottest = {};  // no sum: of the hottest, in degrees Celsius
  friend bool operator==(const GpuSums&, const GpuSums&) = default;
};

class NodeGpus {
 public:
  static constexpr std::size_t kGpusMax = 256;

  // `now` is since when what is new is so.
  void Take(NodeId node, const std::vector<GpuSample>& gpus, Time now);
  void Forget(NodeId node) { nodes_.erase(node); }
  // What is wrong with the node's GPUs.
  [[nodiscard]] std::vector<Warning> WarningsOf(NodeId node, Time now) const;
  [[nodiscard]] std::map<NodeId, GpuSums> Sums() const;
  // What drivers reported of GPUs since that moment, by UUID; what the first report has may be
  // older.
  [[nodiscard]] std::map<std::string, Warning> ErrorsSince(NodeId node, Time start) const;
  // By UUID, of those that told it.
  [[nodiscard]] std::map<std::string, GpuPace> PacesOf(NodeId node) const;

 private:
  struct Told {
    GpuSample sample;
    Time ecc_since = kNoTime;
    Time xid_since = kNoTime;
    Time links_since = kNoTime;
    // When there were more than in the report before; kNoTime: not since the first.
    Time ecc_rose = kNoTime;
    Time xid_rose = kNoTime;
    Time links_rose = kNoTime;
  };

  std::map<NodeId, std::vector<Told>> nodes_;
};

// The newest of what an agent says of who is there, at most once in kEvery: each is an event, and
// an agent that an attacker has taken over may say another a thousand times a second. From any
// thread.
class RareOccupants {
 public:
  static constexpr Duration kEvery{5000};

  // What is to be handed over; nothing: the state says that already.
  void Say(std::optional<TakeGpuOccupants> news);
  // That, when its time has come: the caller hands it over.
  std::optional<TakeGpuOccupants> Due(SteadyTime now);

 private:
  Mutex mutex_;
  std::optional<TakeGpuOccupants> news_ ABSL_GUARDED_BY(mutex_);
  SteadyTime last_ ABSL_GUARDED_BY(mutex_) = SteadyTime::min();
};

}  // namespace muster::daemon
