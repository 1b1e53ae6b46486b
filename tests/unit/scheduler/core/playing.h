#pragma once

// Playing: jobs on nodes, moved on from one end or arrival to the next; a job runs to its limit
// unless it is said to end earlier.
//
// Thread promise: one thread. Invariants: no core and no more than a whole GPU is given away at a
// time, or the test fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "scheduler/core/plan/planner.h"
#include "scheduler/core/state/tables/node_use.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

// That many seconds after it began; the epoch stands for "never".
inline Time After(std::int64_t seconds) {
  return At(1'000'000 + seconds);
}

class Playing {
 public:
  struct Record {
    Time arrival = kNoTime;
    Time started = kNoTime;
    Time ended = kNoTime;
    Time promised = kNoTime;  // its first reservation
    Time by = kNoTime;        // the latest start that it was promised first
    Duration runs{0};         // zero: to its limit
    Duration limit{0};
  };
  SchedulerConfig config;

  explicit Playing(std::vector<Shape> nodes) {
    snapshot_.now = After(0);
    for (const Shape& shape : nodes) {
      snapshot_.nodes.push_back(
          MakeNode(static_cast<std::uint32_t>(snapshot_.nodes.size()) + 1, shape));
    }
  }

  // `runs`: it ends that many seconds after its start.
  void Submit(const ResourceRequest& request, std::int64_t seconds, std::int64_t runs = 0) {
    WaitingJob job;
    job.id = JobId(records_.size() + 1);
    job.submission = job.id;
    job.submitted = snapshot_.now;
    JobSpec spec = Normal(request);
    spec.time_limit = std::chrono::seconds(seconds);
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    snapshot_.waiting.push_back(std::move(job));
    Record& record = records_[JobId(records_.size() + 1)];
    record.arrival = snapshot_.now;
    record.runs = std::chrono::seconds(runs);
    record.limit = std::chrono::seconds(seconds);
  }

  // The nodes are below these switches from now on, some joined by narrow links.
  void Join(std::shared_ptr<const Network> network, std::vector<NarrowLink> links) {
    snapshot_.network = std::move(network);
    snapshot_.narrow_links = std::move(links);
  }

  // The components of a heterogeneous job, with ids in a row.
  void SubmitTogether(const std::vector<ResourceRequest>& requests, std::int64_t seconds) {
    const JobId leader(records_.size() + 1);
    for (const ResourceRequest& request : requests) {
      Submit(request, seconds);
      snapshot_.waiting.back().submission = leader;
      snapshot_.waiting.back().het_size = static_cast<std::uint32_t>(requests.size());
    }
  }

  // As it was submitted last, it ran before, and goes on at once with another number of nodes.
  void ComesBackResized() { snapshot_.waiting.back().resizing = true; }

  // One cycle, carried out.
  void RunCycle() {
    plan_ = MakePlan(snapshot_, config);
    snapshot_.promised = plan_.reservations;
    std::sort(snapshot_.promised.begin(), snapshot_.promised.end(),
              [](const auto& a, const auto& b) { return a.job < b.job; });
    for (const PlannedReservation& reservation : plan_.reservations) {
      Record& record = records_[reservation.job];
      ASSERT_GT(reservation.start, snapshot_.now);
      record.promised = record.promised == kNoTime ? reservation.start : record.promised;
    }
    for (const PlannedPromise& promise : plan_.promises) {
      Record& record = records_[promise.job];
      record.by = record.by == kNoTime ? promise.by : record.by;
      for (WaitingJob& job : snapshot_.waiting) {
        job.promised = job.id == promise.job ? promise.by : job.promised;
      }
    }
    for (const PlannedStart& start : plan_.starts) {
      const auto job = std::find_if(snapshot_.waiting.begin(), snapshot_.waiting.end(),
                                    [&](const WaitingJob& w) { return w.id == start.job; });
      ASSERT_NE(job, snapshot_.waiting.end());
      Record& record = records_[start.job];
      const Duration runs = record.runs.count() > 0 ? record.runs : record.limit;
      record.started = snapshot_.now;
      record.ended = runs.count() > 0 ? snapshot_.now + runs : kNoTime;
      for (const NodeAllocation& part : start.allocation.nodes) {
        NodeSnapshot& node = snapshot_.nodes[part.node.value() - 1];
        ASSERT_FALSE(node.taken.cpus.Meets(part.cpus)) << "a core was given to two jobs";
        AddUse(node.taken, *node.machine, part);
        node.holdings.push_back(HoldingOf(start.job, part));
        parts_[start.job].push_back(part);
      }
      snapshot_.waiting.erase(job);
    }
  }

  // On to the next end of a job, or to when the plan asks for a cycle. False when there is none by
  // that time.
  bool Advance(Time most = Time::max()) {
    Time next = kNoTime;
    for (const auto& [job, parts] : parts_) {
      const Time ends = records_[job].ended;
      if (ends != kNoTime && (next == kNoTime || ends < next)) {
        next = ends;
      }
    }
    if (plan_.wake > snapshot_.now && (next == kNoTime || plan_.wake < next)) {
      next = plan_.wake;
    }
    if (next == kNoTime || next > most) {
      return false;
    }
    MoveTo(next);
    return true;
  }

  void MoveTo(Time time) {
    snapshot_.now = time;
    for (auto it = parts_.begin(); it != parts_.end();) {
      it = records_[it->first].ended <= time ? Free(it) : std::next(it);
    }
  }

  void RunDry() {
    constexpr int kCyclesMax = 100'000;
    int cycles = 0;
    for (RunCycle(); Advance(); ++cycles) {
      ASSERT_LT(cycles, kCyclesMax) << "cycle follows cycle without an end";
      RunCycle();
    }
  }

  // The places that were kept are lost, as when the controller starts again.
  void ForgetPlaces() { snapshot_.promised.clear(); }

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Record& Of(std::uint64_t job) { return records_[JobId(job)]; }
  [[nodiscard]] const std::map<JobId, Record>& records() const { return records_; }
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }
  [[nodiscard]] bool Idle() const { return snapshot_.waiting.empty(); }

 private:
  using Parts = std::map<JobId, std::vector<NodeAllocation>>;

  Holding HoldingOf(JobId job, const NodeAllocation& part) {
    const Record& record = records_[job];
    const Time ends = record.limit.count() > 0 ? record.started + record.limit : kNoTime;
    Holding holding{job, ends, part.cpus, part.memory, {}};
    for (const GpuGrant& grant : part.gpus) {
      holding.gpus.push_back(grant);
    }
    return holding;
  }

  Parts::iterator Free(Parts::iterator job) {
    for (const NodeAllocation& part : job->second) {
      NodeSnapshot& node = snapshot_.nodes[part.node.value() - 1];
      SubtractUse(node.taken, part);
      std::erase_if(node.holdings, [&](const Holding& h) { return h.job == job->first; });
    }
    return parts_.erase(job);
  }

  Snapshot snapshot_;
  Plan plan_;
  std::map<JobId, Record> records_;
  Parts parts_;
};

}  // namespace muster::core::testing
