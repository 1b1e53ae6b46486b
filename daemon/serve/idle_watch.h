#pragma once

// Looks for jobs whose GPUs are idle, and does what [idle] says of them.
//
// While the controller leads and [idle] says anything: a warning, for as long as it is so; or the
// job goes back to the queue, its programs asked to checkpoint first; or it ends. Why stands in the
// log and in the job's SystemComment. Thread promise: construction and destruction are main's; the
// work has a thread of its own. Invariant: an attempt is ended once.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "daemon/agents/live_usage.h"
#include "daemon/controller/controller.h"
#include "daemon/serve/idle_rules.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

class IdleWatch {
 public:
  static constexpr std::chrono::seconds kLookEvery{10};  // as often as nodes send samples

  // All that is referred to outlives it. `by` is the operator in whose name jobs end.
  IdleWatch(Controller& controller, LiveUsage& usage, const Logger& log, IdleRules rules, User by,
            std::chrono::milliseconds look_every = kLookEvery);
  IdleWatch(const IdleWatch&) = delete;
  IdleWatch& operator=(const IdleWatch&) = delete;
  ~IdleWatch();

  // The rules from the next look on; from any thread.
  void Use(IdleRules rules);

 private:
  void Run();
  std::vector<GpuUse> Uses();
  void LookOnce();
  void Act(const IdleJob& idle);

  Controller& controller_;
  LiveUsage& usage_;
  const Logger& log_;
  IdleJudge judge_;
  const User by_;
  const std::chrono::milliseconds look_every_;
  std::set<JobId> acted_;  // on; while they are there
  std::mutex mutex_;       // guards the two below
  std::condition_variable wake_;
  std::optional<IdleRules> others_;  // that count from the next look on
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::daemon
