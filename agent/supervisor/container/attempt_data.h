#pragma once

// The copies of data that a job has on this node (--stage-in-node): made, or found where an earlier
// job of the user's left them, before the first of its processes.
//
// A process of the job's user in the attempt's control group (muster-container) looks for them in
// the user's cache and has `muster stage` make those that are not there. Thread promise: the loop's
// thread. Invariants: (1) an answer comes from the loop, once; (2) what was brought stays while we
// live, for we hold its locks; (3) nothing of it is done as root.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// Where the copies are that such a directory of an attempt ($MUSTER_STAGED) shows.
std::string CacheOfStaged(const std::string& place);

class AttemptData {
 public:
  using Done = std::function<void(absl::Status)>;

  // Says in `order` where they are. REQUIRES: the references outlive it.
  AttemptData(EventLoop& loop, const Logger& log, const AttemptDirectory& directory,
              SupervisorOrder& order);
  AttemptData(const AttemptData&) = delete;
  AttemptData& operator=(const AttemptData&) = delete;
  ~AttemptData();

  // All that the job wants is here, if it wants any.
  [[nodiscard]] bool here() const { return here_; }
  // Of what became of them.
  [[nodiscard]] const DataBrought& brought() const { return brought_; }

  // REQUIRES: not here(), and not called before; `node_index` is ours in the allocation.
  void Bring(std::uint32_t node_index, const JobUser* user, const AttemptCgroup* cgroup, int mounts,
             Done done);

 private:
  absl::Status Begin(std::uint32_t node_index, const JobUser* user, const AttemptCgroup* cgroup,
                     int mounts);
  void OnAnswer();
  absl::Status Take(const std::string& bytes, std::vector<UniqueFd> locks);
  void Stop();

  EventLoop& loop_;
  const Logger& log_;
  const AttemptDirectory& directory_;
  SupervisorOrder& order_;
  const std::string program_;
  Done done_;
  UniqueFd socket_;
  UniqueFd said_;
  std::vector<UniqueFd> locks_;
  DataBrought brought_;
  bool here_ = false;
};

}  // namespace muster::agent
