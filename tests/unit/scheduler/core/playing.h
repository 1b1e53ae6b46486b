#pragma once

// Playing: jobs on nodes, moved on from one end or arrival to the next; every job runs to its
// limit.
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
#include "scheduler/core/state/books/node_use.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

// So many seconds after it began; the epoch stands for "never".
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
  };
  PolicyConfig config;

  explicit Playing(std::vector<Shape> nodes) {
    snapshot_.now = After(0);
    for (const Shape& shape : nodes) {
      snapshot_.nodes.push_back(
          MakeNode(static_cast<std::uint32_t>(snapshot_.nodes.size()) + 1, shape));
    }
  }

  void Submit(const ResourceRequest& request, std::int64_t seconds) {
    WaitingJob job;
    job.id = JobId(records_.size() + 1);
    job.submission = job.id;
    JobSpec spec = Normal(request);
    spec.time_limit = std::chrono::seconds(seconds);
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    snapshot_.waiting.push_back(std::move(job));
    records_[JobId(records_.size() + 1)].arrival = snapshot_.now;
  }

  // One pass, carried out.
  void Pass() {
    plan_ = MakePlan(snapshot_, config);
    snapshot_.promised = plan_.reservations;
    std::sort(snapshot_.promised.begin(), snapshot_.promised.end(),
              [](const auto& a, const auto& b) { return a.job < b.job; });
    for (const PlannedReservation& reservation : plan_.reservations) {
      Record& record = records_[reservation.job];
      ASSERT_GT(reservation.start, snapshot_.now);
      record.promised = record.promised == kNoTime ? reservation.start : record.promised;
    }
    for (const PlannedStart& start : plan_.starts) {
      const auto job = std::find_if(snapshot_.waiting.begin(), snapshot_.waiting.end(),
                                    [&](const WaitingJob& w) { return w.id == start.job; });
      ASSERT_NE(job, snapshot_.waiting.end());
      const Duration limit = job->spec->time_limit;
      records_[start.job].started = snapshot_.now;
      records_[start.job].ended = limit.count() > 0 ? snapshot_.now + limit : kNoTime;
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

  // On to the next end of a job. False when none runs to one.
  bool Advance() {
    Time next = kNoTime;
    for (const auto& [job, parts] : parts_) {
      const Time ends = records_[job].ended;
      if (ends != kNoTime && (next == kNoTime || ends < next)) {
        next = ends;
      }
    }
    if (next == kNoTime) {
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
    for (Pass(); Advance();) {
      Pass();
    }
  }

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Record& Of(std::uint64_t job) { return records_[JobId(job)]; }
  [[nodiscard]] const std::map<JobId, Record>& records() const { return records_; }
  [[nodiscard]] bool Idle() const { return snapshot_.waiting.empty(); }

 private:
  using Parts = std::map<JobId, std::vector<NodeAllocation>>;

  Holding HoldingOf(JobId job, const NodeAllocation& part) {
    Holding holding{job, records_[job].ended, part.cpus, part.memory, {}};
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
