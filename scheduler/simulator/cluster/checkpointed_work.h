#pragma once

// A job that writes checkpoints: how long an attempt takes, and what is left of one that was ended.
//
// An attempt restarts (but for the job's first), then works; after each `interval` of work it
// writes a checkpoint for `cost` seconds, and none at its end. What it did since its last whole
// checkpoint is lost with it. This is the model of J. T. Daly, "A higher order estimate of the
// optimum checkpoint interval for restart dumps", FGCS 22(3), 2006, section 2, but for the last
// checkpoint. Whole seconds. Invariants: the parts of an attempt add up to its time; an attempt of
// AttemptTime() saves all of its work.

#include <cstdint>
#include <vector>

#include "scheduler/simulator/schedule/schedule_metrics.h"

namespace muster::sim {

struct JobCheckpoints {
  std::int64_t interval = 0;  // of work between two; 0: none are written
  std::int64_t cost = 0;      // of writing one
  std::int64_t restart = 0;   // from a new start to work again
  // Bytes of one, for each GPU of the job, or for each hardware thread of one without: what it
  // costs is the file system's answer. 0: `cost` is.
  std::int64_t size = 0;
};

struct AttemptParts {
  std::int64_t restart = 0;
  std::int64_t checkpoints = 0;  // writing them, the one cut short included
  std::int64_t saved = 0;        // work that counts
  std::int64_t lost = 0;         // work that does not
};

// How long an attempt takes that has `work` left to do. REQUIRES: work >= 1.
std::int64_t AttemptTime(const JobCheckpoints& checkpoints, std::int64_t work, bool again);

// What became of the first `time` seconds of it when it was ended then.
AttemptParts PartsOf(const JobCheckpoints& checkpoints, std::int64_t work, bool again,
                     std::int64_t time);

// What failures and checkpoints cost a whole cluster. Seconds are of hardware threads.
struct FailureTotals {
  std::uint64_t failures = 0;  // of nodes
  std::uint64_t ignored = 0;   // of the log, before the first job or while the node was away
  std::uint64_t attempts = 0;  // that failures ended
  std::uint64_t released = 0;  // jobs held because they were requeued too often, let go again
  double held = 0;             // by attempts that are over
  double useful = 0;
  double lost = 0;
  double checkpoints = 0;
  double restart = 0;
  double shared = 0;  // writing checkpoints, beyond what each would have taken alone
  double away = 0;    // of nodes under repair, until the last event

  void Add(const AttemptParts& parts, std::int64_t threads);
  // In the field's numbers, each with its definition.
  [[nodiscard]] std::vector<Metric> Metrics() const;
};

}  // namespace muster::sim
