#pragma once

// Which nodes events changed, or the jobs on them: what a snapshot must make again.
//
// It names the newest changes; those that ask for older ones look at every node. Thread promise:
// none; owned by one thread. Invariants: every node that an event changes, or on which it changes a
// job, is named with the version that the event makes, or a later one.

#include <deque>
#include <utility>
#include <vector>

#include "scheduler/core/state/tables/job_table.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/value/ids.h"

namespace muster::core {

class TouchedNodes {
 public:
  static constexpr std::size_t kMax = 65536;

  TouchedNodes() = default;
  // Nothing is known of what changed up to that version.
  explicit TouchedNodes(Version since) : since_(since) {}

  // The nodes that the event changes, or the jobs on which it does. To be called with the jobs as
  // they are before it is applied, and after, with the version that it makes.
  void Note(const Event& event, const JobTable& jobs, Version version);

  // Adds the nodes that were touched later than `since`, in no order and perhaps twice. False when
  // so far back is not known: any node may be.
  [[nodiscard]] bool AppendSince(Version since, std::vector<NodeId>& nodes) const;

 private:
  void Touch(NodeId node, Version version);

  std::deque<std::pair<Version, NodeId>> touches_;  // in the order of versions, the newest ones
  Version since_;                                   // later ones are all in there
};

}  // namespace muster::core
