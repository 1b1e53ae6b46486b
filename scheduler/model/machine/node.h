#pragma once

// A node as the controller holds it: its machine, whether its agent is there, and what is taken of
// it.
//
// Thread promise: plain values; changed only by core/state/cluster_state's Apply. Invariants: (1)
// `taken` is the sum over the allocations of jobs and over `quarantined`, and is never stored: it
// follows from them; (2) `machine` is never null in a cluster state.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_occupant.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// An attempt that an agent has and the controller does not know: left running, its resources kept
// away.
struct QuarantinedAttempt {
  JobId job;
  AttemptNumber attempt;
  NodeAllocation allocation;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &QuarantinedAttempt::job},
                Field{"attempt", &QuarantinedAttempt::attempt},
                Field{"allocation", &QuarantinedAttempt::allocation});
  }
  friend bool operator==(const QuarantinedAttempt&, const QuarantinedAttempt&) = default;
};

// An agent that has said nothing for so long is lost; it says something every few seconds.
inline constexpr Duration kAgentLease = std::chrono::seconds(20);

// Of how many images and copies of data the cluster remembers that a node keeps them.
inline constexpr std::size_t kNodeKeptMax = 64;

// What is taken of a node.
struct NodeUse {
  CpuSet cpus;
  Bytes memory;
  std::vector<GpuShare> gpus;  // parallel to Machine::gpus
  GresList gres = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"cpus", &NodeUse::cpus}, Field{"memory", &NodeUse::memory},
                Field{"gpus", &NodeUse::gpus}, Field{"gres", &NodeUse::gres});
  }
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

struct Node {
  NodeId id;
  std::string name;
  std::string hostname;
  std::string instance;  // changes when the agent's state directory is a new one
  std::string boot_id;
  std::shared_ptr<const Machine> machine;
  bool connected = false;
  Time changed = kNoTime;  // when `connected` last changed
  Time heard = kNoTime;    // not connected: the last sign of life
  bool drained = false;
  bool narrow = false;  // drained for jobs that may span nodes alone
  std::string drain_reason;
  Time drain_until = kNoTime;     // then it is resumed by itself
  Time drain_deadline = kNoTime;  // by then its jobs have left it
  std::vector<QuarantinedAttempt> quarantined;
  NodeUse taken;
  std::vector<std::string> features;  // sorted, no repeats
  std::uint32_t weight = 0;           // lighter nodes are taken first
  // Marks (model/plan/node_data) of images and copies that jobs here had; the oldest first, no
  // repeats.
  std::vector<std::uint64_t> kept = {};
  GpuOccupants gpu_occupants = {};          // as its agent last said
  std::vector<GpuLayout> gpu_layouts = {};  // by GPU
  static constexpr auto Fields(auto list) {
    return list(
        Field{"id", &Node::id}, Field{"name", &Node::name}, Field{"hostname", &Node::hostname},
        Field{"instance", &Node::instance}, Field{"boot_id", &Node::boot_id},
        Field{"machine", &Node::machine}, Field{"connected", &Node::connected},
        Field{"changed", &Node::changed}, Field{"heard", &Node::heard},
        Field{"drained", &Node::drained}, Field{"narrow", &Node::narrow},
        Field{"drain_reason", &Node::drain_reason}, Field{"drain_until", &Node::drain_until},
        Field{"drain_deadline", &Node::drain_deadline}, Field{"quarantined", &Node::quarantined},
        Field{"features", &Node::features}, Field{"weight", &Node::weight},
        Field{"kept", &Node::kept}, Field{"gpu_occupants", &Node::gpu_occupants},
        Field{"gpu_layouts", &Node::gpu_layouts});
  }
};

// What an agent says of an attempt in its keeping when it registers.
struct KnownAttempt {
  JobId job;
  AttemptNumber attempt;
  bool ended = false;
  NodeAllocation allocation;
  bool frozen = false;  // suspended: nothing of it runs, its cores may be another's
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &KnownAttempt::job}, Field{"attempt", &KnownAttempt::attempt},
                Field{"ended", &KnownAttempt::ended},
                Field{"allocation", &KnownAttempt::allocation},
                Field{"frozen", &KnownAttempt::frozen});
  }
  friend bool operator==(const KnownAttempt&, const KnownAttempt&) = default;
};

// A controller whose state was restored from a copy begins an epoch so far above: more than a
// cluster can have got through since the copy was made.
inline constexpr std::uint64_t kEpochsSkipped = 1'000'000;
// Whether the state was restored since an agent has seen that epoch: it then knows what the
// controller does not.
constexpr bool WasRestored(Epoch seen, Epoch now) {
  return now.value() >= seen.value() + kEpochsSkipped / 2;
}

// How an agent introduces itself.
struct Registration {
  std::string name;
  std::string hostname;
  std::string instance;
  std::string boot_id;
  Epoch epoch_seen;  // the newest epoch whose orders it took
  Machine machine;
  std::vector<KnownAttempt> attempts;
  std::vector<std::string> features;  // as its --features says
  std::uint32_t weight = 0;           // as its --weight says
  LayoutReport layout = {};
  static constexpr auto Fields(auto list) {
    return list(
        Field{"name", &Registration::name}, Field{"hostname", &Registration::hostname},
        Field{"instance", &Registration::instance}, Field{"boot_id", &Registration::boot_id},
        Field{"epoch_seen", &Registration::epoch_seen}, Field{"machine", &Registration::machine},
        Field{"attempts", &Registration::attempts}, Field{"features", &Registration::features},
        Field{"weight", &Registration::weight}, Field{"layout", &Registration::layout});
  }
  friend bool operator==(const Registration&, const Registration&) = default;
};

}  // namespace muster
