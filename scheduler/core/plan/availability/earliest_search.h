#pragma once

// For one shape of job: the search for its earliest start, with what it knows from earlier cycles.
//
// The job is divided as an empty cluster would divide it, into parts of equal size, and for each
// size a queue of nodes says from when on each takes such a part. Where a job may be divided in
// other ways, those are tried at the times at which all nodes together have enough for it. Thread
// promise: none; owned by one cycle at a time. Invariants: (1) an earliest time once found is a
// lower bound until the cycle ends, for amounts only fall; (2) the answer depends on the timelines
// and the need alone, never on what is remembered.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "scheduler/core/plan/availability/lower_bound_heap.h"
#include "scheduler/core/plan/availability/node_query.h"

namespace muster::core {

// Every call takes a query of the same shape.
class EarliestSearch {
 public:
  // A cycle begins: what is known is brought to its nodes.
  void Renew(const NodeQuery& query);

  // Whether the nodes that are up hold the job when nothing else runs.
  bool EverFits(const NodeQuery& query);

  // The earliest opening from `from` on; at kHorizon when it hangs on a job without a limit. One at
  // `before` or later need not be found: then it is at kFarFuture, without nodes. REQUIRES:
  // EverFits.
  Opening Find(const NodeQuery& query, Time from, Time before);

 private:
  // A job's parts of one size: a number of nodes with equally many tasks.
  struct Part {
    std::uint32_t tasks = 0;
    std::uint32_t nodes = 0;
    EarliestQueue queue;  // nodes by when they take such a part
  };

  struct Popped;

  void FindParts(const NodeQuery& query);
  static void FillQueue(const NodeQuery& query, Part& part);
  static void RenewQueue(const NodeQuery& query, Part& part);
  // Adds when the untaken node takes such a part, if it ever does.
  static void AddBound(const NodeQuery& query, const Part& part, std::uint32_t node,
                       std::vector<EarliestQueue::Entry>& bounds);

  // One opening for the parts; without nodes where they are then on more switches than the job asks
  // for. At kFarFuture, without nodes, where there is none before that time.
  Opening GatherParts(const NodeQuery& query, Time from, Time before);
  // Takes the nodes off the queue that can take the part at `time`, as far as it says; those that
  // do are appended, the others go back with the time at which they do.
  static void PopUntil(const NodeQuery& query, Part& part, Time time, std::vector<Popped>& popped);
  // Of the popped nodes outside `used`, those that take the part at `time`, and when the next of
  // them does.
  static Time TakersAt(const NodeQuery& query, const Part& part, Time time,
                       const std::set<std::uint32_t>& used, std::vector<Popped>& popped,
                       std::vector<std::uint32_t>& fitting);
  // The earliest time from `from` on at which enough nodes outside `used` take the part; which do
  // then, in order.
  static std::optional<Time> Gather(const NodeQuery& query, Part& part, Time from, Time before,
                                    const std::set<std::uint32_t>& used,
                                    std::vector<std::uint32_t>& fitting);
  // The earliest time in [from, before) at which the tasks fit in some other division over nodes.
  [[nodiscard]] static std::optional<Opening> FindUneven(const NodeQuery& query, Time from,
                                                         Time before);
  // The same, where the times of reservations count too.
  [[nodiscard]] static std::optional<Opening> FindUnevenBeside(const NodeQuery& query, Time from,
                                                               Time before);

  std::optional<std::vector<Part>> parts_;
  bool lasting_ = false;  // the parts are the same whatever runs
};

}  // namespace muster::core
