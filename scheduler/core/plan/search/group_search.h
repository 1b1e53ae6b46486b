#pragma once

// When and where all components of a heterogeneous job can start at one instant, on resources of
// their own.
//
// Components are placed one after the other, each beside those before it: in every order where they
// are few, else in the given one and its reverse. Thread promise: owned by one cycle. Invariants:
// (1) a search leaves the availability as it found it; (2) what it returns fits together; (3) the
// answer depends on the snapshot and the calls alone.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/planned_nodes.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/plan/snapshot.h"

namespace muster::core {

// A component and the ways in which it may start, in order of preference.
struct GroupMember {
  JobId job;
  std::vector<const StartOption*> options;
};

struct MemberPlace {
  const StartOption* option = nullptr;
  Opening opening;
  Allocation allocation;  // of a start now: where its ranks go
};

// The nodes that the last plan promised to the job, if they are free for it at that time.
std::optional<Opening> FindPromised(const Snapshot& snapshot, const Availability& availability,
                                    JobId job, const Need& need, Time start);
// The ranks' places on the chosen nodes, as `snapshot_of` shows them. Nothing when a node's free
// threads and GPUs do not lie as their number promises; `too_small`, if there, is that node.
std::optional<Allocation> PlaceRanks(
    const Availability& availability, const Need& need, const Opening& opening,
    const std::function<const NodeSnapshot&(std::uint32_t)>& snapshot_of,
    std::uint32_t* too_small = nullptr);

class GroupSearch {
 public:
  // What a start now needs, and one at some later time, of an option's need.
  struct Needs {
    std::function<Need(const Need&)> now = [](const Need& need) { return need; };
    std::function<Need(const Need&)> later = LaterNeed;
  };

  // `nodes` are those of the snapshot, with what the cycle has started on them. REQUIRES: all
  // outlive it.
  GroupSearch(const Snapshot& snapshot, Availability& availability, const PlannedNodes& nodes)
      : GroupSearch(snapshot, availability, nodes, Needs()) {}
  GroupSearch(const Snapshot& snapshot, Availability& availability, const PlannedNodes& nodes,
              Needs needs)
      : snapshot_(snapshot), availability_(availability), nodes_(nodes), needs_(std::move(needs)) {}

  // The waiting components of the leader's group, in order.
  std::vector<const WaitingJob*> ComponentsOf(const WaitingJob& leader);
  // Whether the members fit together on the nodes that are up when nothing else runs.
  bool EverFit(const std::vector<GroupMember>& members);
  // A start of all now, in the members' order, with their ranks' places.
  std::optional<std::vector<MemberPlace>> FindNow(const std::vector<GroupMember>& members);
  // The same for a start then, without ranks.
  std::optional<std::vector<MemberPlace>> FindFrom(const std::vector<GroupMember>& members,
                                                   Time start) {
    return FindAt(members, start, false);
  }
  // The earliest common opening, as Availability::FindEarliest words it; nothing when none is
  // found.
  std::optional<std::vector<MemberPlace>> FindEarliest(const std::vector<GroupMember>& members);

 private:
  using Order = std::vector<std::size_t>;
  [[nodiscard]] static std::vector<Order> OrdersOf(std::size_t members);
  std::optional<std::vector<MemberPlace>> FindAt(const std::vector<GroupMember>& members,
                                                 Time start, bool with_ranks);
  std::optional<std::vector<MemberPlace>> FindIn(const Order& order,
                                                 const std::vector<GroupMember>& members,
                                                 Time start, bool keep_promises, bool with_ranks);
  // Where the member has room then: on its promised nodes first, if those are to be kept.
  [[nodiscard]] std::optional<Opening> OpeningOf(const GroupMember& member, const Need& need,
                                                 Time start, bool keep_promises);
  // Takes the place until Undo.
  void Hold(const Need& need, const MemberPlace& place, bool with_ranks);
  // The member's place beside those before it, which it then holds.
  std::optional<MemberPlace> Take(const GroupMember& member, Time start, bool keep_promises,
                                  bool with_ranks);
  void Undo();
  [[nodiscard]] const NodeSnapshot& SnapshotOf(std::uint32_t node) const;

  const Snapshot& snapshot_;
  Availability& availability_;
  const PlannedNodes& nodes_;
  const Needs needs_;
  NodesBefore before_;  // of the nodes that a trial took of
  std::map<std::uint32_t, NodeSnapshot> node_snapshots_;
  std::map<JobId, std::vector<const WaitingJob*>> components_;  // by leader, once one was met
  std::map<std::vector<std::uint64_t>, bool> ever_fit_;         // by the shapes of the options
};

}  // namespace muster::core
