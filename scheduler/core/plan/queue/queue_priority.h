#pragma once

// In which order a cycle looks at the waiting jobs: those that only change their size, which have
// just left their nodes, then by partition tier, then priority, dominant share or key
// (prompt_keys), then first come first served.
//
// What the order does not ask for is not reckoned: usage and backlog, when nobody waits beside the
// first. Thread promise: one thread. Invariants: (1) a strict total order: ties fall to the job
// submitted first; (2) without weights and tiers it is the order of the snapshot; (3) with a weight
// on age every job is first in its tier some day, if no priority grows without bound: no job
// starves.

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/core/plan/queue/backlog.h"
#include "scheduler/core/plan/queue/dominant_share.h"
#include "scheduler/core/plan/queue/prompt_keys.h"
#include "scheduler/core/policy/queue_tiers.h"
#include "scheduler/core/share/live_shares.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/policy/priority.h"
#include "scheduler/model/settings/scheduler_config.h"

namespace muster::core {

// Elements of an entry of snapshot.waiting that are looked at one after the other.
struct QueueEntry {
  std::uint32_t entry = 0;  // its position
  std::uint32_t first = 0;  // of the entry's elements
  std::uint32_t count = 1;
  friend bool operator==(const QueueEntry&, const QueueEntry&) = default;
};

class QueuePriority {
 public:
  // Which `whole` the nodes are is remembered there, and not reckoned again, and in `charges` what
  // running jobs cost. REQUIRES: all outlive it.
  QueuePriority(const Snapshot& snapshot, const SchedulerConfig& config,
                std::optional<Amounts>* whole = nullptr, RunningCharges* charges = nullptr);

  // True when priorities are reckoned at all.
  [[nodiscard]] bool reckoned() const { return reckoned_; }
  // The job's priority with all that it is made of. REQUIRES: reckoned().
  [[nodiscard]] Priority Of(const WaitingJob& job) const;
  // The tier in which it stands: those of a higher one go before it.
  [[nodiscard]] std::uint64_t TierOf(const WaitingJob& job) const {
    return tiers_.differ() ? tiers_.Of(*job.spec) : 0;
  }
  // The total of Of, or 0.
  [[nodiscard]] std::uint32_t TotalOf(const WaitingJob& job) const {
    return reckoned_ ? Of(job).total : 0;
  }
  // The work that waits and runs; only of the order called prompt.
  [[nodiscard]] const std::optional<Backlog>& backlog() const { return backlog_; }
  // Keys and patience; only of that order.
  [[nodiscard]] const std::optional<PromptKeys>& prompt_keys() const { return prompt_keys_; }
  // Every waiting job once, best first; `totals` gets the priorities by entry, zeros when they are
  // not reckoned, and none at all where a single entry leaves nothing to compare.
  [[nodiscard]] std::vector<QueueEntry> Order(std::vector<std::uint32_t>* totals) const;

 private:
  [[nodiscard]] std::vector<QueueEntry> OrderOfAll(std::vector<std::uint32_t>* totals) const;
  [[nodiscard]] Factor FairshareOf(const JobSpec& spec) const;
  void AddPolicyFactors(const JobSpec& spec, PriorityRequest& request) const;
  void AddSizeFactors(const JobSpec& spec, PriorityRequest& request) const;
  [[nodiscard]] std::vector<std::uint32_t> ByPromptKey(const std::vector<std::uint64_t>& tiers,
                                                       std::vector<std::uint32_t>* totals) const;
  [[nodiscard]] std::int64_t KeyOf(const WaitingJob& job, std::uint32_t* total) const;
  void AddByDominantShare(const std::vector<std::uint32_t>& tier,
                          std::vector<QueueEntry>& order) const;

  const Snapshot& snapshot_;
  const PriorityConfig& config_;
  RunningCharges* const charges_;
  const bool reckoned_;
  const QueueTiers tiers_;
  Amounts whole_;  // where it matters
  std::uint32_t partition_max_ = 0;
  std::uint32_t qos_max_ = 0;
  // Once the fairshare was asked for.
  mutable std::optional<LiveShares> shares_;
  mutable std::vector<Factor> fairshare_;  // by association
  std::optional<Backlog> backlog_;
  std::optional<PromptKeys> prompt_keys_;  // of the order called prompt
};

}  // namespace muster::core
