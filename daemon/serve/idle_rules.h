#pragma once

// When a job's GPUs count as idle, and what is done then: [idle] of the configuration.
//
//   [idle]                       # in every partition that has no table of its own
//   gpu_below = "5%"             # busy, on average of all its GPUs
//   for = "30m"
//   then = "warn"                # or "checkpoint": back to the queue; or "end"
//   [idle.interactive]
//   gpu_below = "0%"             # never
//
// Pure. Invariants: (1) a rule that is off finds nothing; (2) use that is not known is not idle;
// (3) a job is judged by all of the last `hold`, and again after each attempt's start and
// suspension.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/config_file.h"

namespace muster::daemon {

enum class IdleAction : std::uint8_t { kWarn, kCheckpoint, kEnd };

struct IdleRule {
  std::int64_t percent = 0;  // 0: off
  Duration hold{std::chrono::minutes(30)};
  IdleAction action = IdleAction::kWarn;
};

struct IdleRules {
  IdleRule everywhere;
  std::map<std::string, IdleRule> partitions;
  [[nodiscard]] const IdleRule& Of(const std::string& partition) const;
  [[nodiscard]] bool on() const;
};

// Errors are "FILE:LINE: KEY: PROBLEM".
absl::Status ReadIdleRules(ConfigFile& file, IdleRules& rules);

// What a running job's GPUs did so far.
struct GpuUse {
  JobId job;
  AttemptNumber attempt;
  std::string partition;
  std::uint32_t gpus = 0;
  Duration busy{0};  // of all of them together; 0: not known
  Time time = kNoTime;
};

struct IdleJob {
  JobId job;
  IdleAction action = IdleAction::kWarn;
  std::string text;
  Time since = kNoTime;
};

class IdleJudge {
 public:
  explicit IdleJudge(IdleRules rules) : rules_(std::move(rules)) {}
  // Other rules, by which what was seen so far counts, too.
  void Use(IdleRules rules) { rules_ = std::move(rules); }
  [[nodiscard]] bool on() const { return rules_.on(); }
  // All that run now; one that is not among them is forgotten.
  std::vector<IdleJob> Look(const std::vector<GpuUse>& uses);

 private:
  static constexpr int kPieces = 30;  // of `hold`: as often something is kept
  struct Past {
    AttemptNumber attempt;
    std::deque<std::pair<Time, Duration>> looks;  // the first is the last before `hold` began
  };
  IdleRules rules_;
  std::map<JobId, Past> past_;
};

}  // namespace muster::daemon
