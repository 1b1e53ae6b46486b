#include "scheduler/core/planner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/core/availability.h"
#include "scheduler/core/cluster_state.h"
#include "scheduler/core/eligibility.h"
#include "scheduler/core/feasibility.h"
#include "scheduler/core/feature_match.h"
#include "scheduler/core/placement.h"
#include "scheduler/model/fingerprint.h"

namespace muster {
namespace {

// What a pass knows of all jobs of one shape.
struct ShapeVerdict {
  bool no_start = false;         // none starts in this pass: free amounts only fall
  std::optional<Reason> beyond;  // why they never start on the nodes that are up
};

class Pass {
 public:
  Pass(const Snapshot& snapshot, const PolicyConfig& config)
      : snapshot_(snapshot),
        reservations_left_(ReservationsOf(config)),
        may_pass_(config.backfill != Backfill::kNone),
        counts_(snapshot, config),
        availability_(snapshot) {}

  Plan Run() {
    plan_.version = snapshot_.version;
    for (const WaitingJob& job : snapshot_.waiting) {
      LookAt(job);
    }
    plan_.wake = counts_.wake;
    plan_.hash = Fingerprint()
                     .Add(plan_.starts)
                     .Add(plan_.reservations)
                     .Add(plan_.waiting)
                     .Add(plan_.drops)
                     .value();
    return std::move(plan_);
  }

 private:
  // Starts the job, or notes why not.
  void LookAt(const WaitingJob& job) {
    std::vector<Reason> blockers;
    AddJobBlockers(snapshot_, job, counts_, blockers);
    if (std::optional<PlannedDrop> drop = DropOf(job, blockers)) {
      plan_.drops.push_back(*std::move(drop));
    }
    if (!blockers.empty()) {
      Leave(job, std::move(blockers.front()));
      plan_.waiting.back().also.assign(blockers.begin() + 1, blockers.end());
      return;
    }
    const Need need = NeedOf(job);
    ShapeVerdict& verdict = verdicts_[need.shape];
    if (verdict.beyond.has_value()) {
      return Leave(job, *verdict.beyond);
    }
    if (!verdict.no_start && (may_pass_ || !first_blocked_.valid())) {
      std::optional<Opening> opening = Promised(job.id, need, snapshot_.now);
      if (!opening.has_value()) {
        opening = availability_.FindNow(need);
      }
      if (opening.has_value() && Start(job, need, *opening)) {
        return;
      }
      verdict.no_start = true;
    }
    LeaveBlocked(job, need, verdict);
  }

  Need NeedOf(const WaitingJob& job) {
    const auto [known, is_new] = shapes_.emplace(job.spec.get(), 0);
    if (is_new) {
      known->second = Fingerprint().Add(job.spec->request).Add(job.spec->time_limit).value();
    }
    return Need{&job.spec->request, PlannedDuration(job.spec->time_limit), known->second,
                AllowedFor(job.spec->request, known->second)};
  }

  // Which nodes a request of the shape may use; null for all of them.
  const std::vector<bool>* AllowedFor(const ResourceRequest& request, std::uint64_t shape) {
    if (!DescribesNodes(request)) {
      return nullptr;
    }
    const auto [known, is_new] = allowed_.try_emplace(shape);
    if (is_new) {
      for (const NodePicture& node : snapshot_.nodes) {
        known->second.push_back(NodeMay(node, request));
      }
    }
    return &known->second;
  }

  // The nodes that the last plan promised to the job, if they are free for it at that time.
  std::optional<Opening> Promised(JobId job, const Need& need, Time start) const {
    const auto promise = std::lower_bound(
        snapshot_.promised.begin(), snapshot_.promised.end(), job,
        [](const PlannedReservation& reservation, JobId id) { return reservation.job < id; });
    if (promise == snapshot_.promised.end() || promise->job != job) {
      return std::nullopt;
    }
    Opening opening{start, {}};
    for (const ReservedNode& reserved : promise->nodes) {
      const auto node =
          std::lower_bound(snapshot_.nodes.begin(), snapshot_.nodes.end(), reserved.node,
                           [](const NodePicture& picture, NodeId id) { return picture.id < id; });
      if (node == snapshot_.nodes.end() || node->id != reserved.node) {
        return std::nullopt;
      }
      opening.shares.push_back(
          NodeShare{static_cast<std::uint32_t>(node - snapshot_.nodes.begin()), reserved.tasks});
    }
    return availability_.Fits(need, opening) ? std::optional(std::move(opening)) : std::nullopt;
  }

  // The ranks' places, now that the nodes are chosen. False when a node's free threads and GPUs do
  // not lie as their number promises; nothing is taken then.
  bool Start(const WaitingJob& job, const Need& need, const Opening& opening) {
    PlannedStart start;
    start.job = job.id;
    std::uint32_t ranks = 0;
    for (const NodeShare& share : opening.shares) {
      Placed placed = PlaceOnNode(PictureOf(share.node), *need.request, share.tasks);
      if (placed.tasks < share.tasks) {
        return false;
      }
      for (RankPlacement& rank : placed.allocation.ranks) {
        rank.rank += ranks;
      }
      ranks += placed.tasks;
      start.allocation.nodes.push_back(std::move(placed.allocation));
    }
    for (std::size_t i = 0; i < opening.shares.size(); ++i) {
      const std::uint32_t node = opening.shares[i].node;
      NodePicture& picture = touched_.try_emplace(node, snapshot_.nodes[node]).first->second;
      AddUse(picture.taken, *picture.machine, start.allocation.nodes[i]);
    }
    availability_.Take(need, opening);
    CountStart(job, counts_);
    plan_.starts.push_back(std::move(start));
    return true;
  }

  const NodePicture& PictureOf(std::uint32_t node) const {
    const auto touched = touched_.find(node);
    return touched == touched_.end() ? snapshot_.nodes[node] : touched->second;
  }

  // The job waits for resources, or behind one that does; the first ones get a reservation.
  void LeaveBlocked(const WaitingJob& job, const Need& need, ShapeVerdict& verdict) {
    if (!availability_.EverFits(need)) {
      verdict.beyond = WhyNotNow(snapshot_.nodes, availability_, *need.request);
      return Leave(job, *verdict.beyond);
    }
    Time start = kNoTime;
    if (reservations_left_ > 0) {
      std::optional<Opening> opening = availability_.FindEarliest(need);
      if (opening.has_value() && !opening->shares.empty()) {
        --reservations_left_;
        start = Reserve(job, need, *std::move(opening));
      }
    }
    if (first_blocked_.valid()) {
      Reason reason;
      reason.kind = ReasonKind::kPriority;
      reason.behind = first_blocked_;
      reason.ahead = ahead_++;
      reason.until = start;
      return Leave(job, std::move(reason));
    }
    first_blocked_ = job.id;
    ahead_ = 1;
    Reason reason = WhyNotNow(snapshot_.nodes, availability_, *need.request);
    reason.until = start;
    Leave(job, std::move(reason));
  }

  // Keeps the opening free of jobs that come after. When it starts, or kNoTime when nobody knows.
  Time Reserve(const WaitingJob& job, const Need& need, Opening opening) {
    if (std::optional<Opening> same = Promised(job.id, need, opening.start)) {
      opening = *std::move(same);
    }
    availability_.Take(need, opening);
    if (opening.start >= kHorizon) {
      return kNoTime;
    }
    PlannedReservation reservation{job.id, opening.start, {}};
    for (const NodeShare& share : opening.shares) {
      reservation.nodes.push_back(ReservedNode{snapshot_.nodes[share.node].id, share.tasks});
    }
    plan_.reservations.push_back(std::move(reservation));
    return opening.start;
  }

  void Leave(const WaitingJob& job, Reason reason) {
    plan_.waiting.push_back(LeftWaiting{job.id, std::move(reason), {}});
  }

  const Snapshot& snapshot_;
  std::uint32_t reservations_left_;
  const bool may_pass_;  // jobs may overtake those that wait for resources
  PassCounts counts_;
  Availability availability_;
  std::map<std::uint32_t, NodePicture> touched_;  // nodes on which something was started
  std::map<const JobSpec*, std::uint64_t> shapes_;
  std::map<std::uint64_t, ShapeVerdict> verdicts_;
  std::map<std::uint64_t, std::vector<bool>> allowed_;  // by shape, then node
  JobId first_blocked_;
  std::uint32_t ahead_ = 0;
  Plan plan_;
};

}  // namespace

Plan MakePlan(const Snapshot& snapshot, const PolicyConfig& config) {
  return Pass(snapshot, config).Run();
}

}  // namespace muster
