#pragma once

// What the loop alone sees that needs attention: jobs that the planner leaves waiting though they
// fit (promise 8, by the watchdog), for the log, `show` and `explain`, with a replay bundle of the
// cycle that left them; and jobs that ran out of memory or hung.
//
// Thread promise: one owner, the controller's thread; WriteReplayBundle from any. Invariants: (1) a
// job is reported once, and forgotten when a cycle no longer overlooks it; (2) at most kBundlesKept
// bundles lie in the directory, the newest; (3) of the ends, the newest kEndsKept are there.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/explain/watchdog.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/plan/replay_bundle.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

inline constexpr std::size_t kBundlesKept = 16;
inline constexpr std::size_t kEndsKept = 1024;

// A part of a job ended in a way that needs attention.
struct BadEnd {
  std::uint64_t number = 0;  // they are counted from 1 on
  EndCause cause = EndCause::kNone;
  JobView job;  // its names alone
};

class Alerts {
 public:
  Alerts() = default;
  Alerts(std::string directory, const Logger& log) : directory_(std::move(directory)), log_(&log) {}

  // Takes in what a cycle on `version` overlooked. When that makes a new alert: where the cycle's
  // bundle is to go.
  std::optional<std::string> ReportOverlooked(const std::vector<OverlookedJob>& overlooked,
                                              Version version,
                                              const std::function<std::string(NodeId)>& name_of);

  // One sentence; empty when there is no alert about the job.
  [[nodiscard]] std::string TextOf(JobId job) const;
  // The jobs that are overlooked, with that sentence.
  [[nodiscard]] const std::map<JobId, std::string>& texts() const { return texts_; }

  // Looks whether the event, which is about to happen to the state, is such an end.
  void Note(const Event& event, const core::ClusterState& state);
  [[nodiscard]] const std::deque<BadEnd>& ends() const { return ends_; }

 private:
  void Keep(const Job& job, EndCause cause);

  std::string directory_;
  const Logger* log_ = nullptr;
  core::Watchdog watchdog_;
  std::map<JobId, std::string> texts_;
  std::deque<BadEnd> ends_;
};

// Writes the bundle durably, and removes the oldest ones beside it that are too many.
absl::Status WriteReplayBundle(const std::string& path, const ReplayBundle& bundle);

// An error is one line: the file, what is wrong, the mend.
absl::StatusOr<ReplayBundle> ReadReplayBundle(const std::string& path);

}  // namespace muster::daemon
