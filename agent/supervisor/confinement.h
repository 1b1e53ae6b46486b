#pragma once

// What an attempt's processes are held in on this node: their user, his PAM session, their control
// group and their mounts, and the script that they run.
//
// Thread promise: the supervisor's thread. Invariants: (1) what limits() promises was read back;
// (2) the session is open from before the first process of the job until none is left.

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/limit_set.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "agent/supervisor/user_space/private_tmp.h"

namespace muster::agent {

class Confinement {
 public:
  // REQUIRES: the references outlive it.
  Confinement(const AttemptDirectory& directory, const SupervisorOrder& order)
      : directory_(directory), order_(order) {}
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  // All but the session, for the part of the allocation at `node_index`.
  absl::Status Make(std::uint32_t node_index);
  // After the prolog, which may have made what its modules need, and before the first process.
  absl::Status OpenSession();
  void CloseSession() { session_.reset(); }
  // Whoever runs the job may read and run it, and nobody else.
  absl::Status WriteScript() const;

  // Null: it runs as we do.
  [[nodiscard]] const JobUser* user() const { return user_.has_value() ? &*user_ : nullptr; }
  // Null: it has none.
  [[nodiscard]] const AttemptCgroup* cgroup() const {
    return cgroup_.has_value() ? &*cgroup_ : nullptr;
  }
  // A descriptor of the mount namespace; -1: ours.
  [[nodiscard]] int mounts() const { return private_.mounts.get(); }
  // A descriptor of what is /tmp there.
  [[nodiscard]] int private_tmp() const { return private_.tmp.get(); }
  [[nodiscard]] const LimitSet& limits() const { return limits_; }

 private:
  void HoldToLimits(std::uint32_t node_index);

  const AttemptDirectory& directory_;
  const SupervisorOrder& order_;
  std::optional<JobUser> user_;
  PrivateTmp private_;
  std::optional<AttemptCgroup> cgroup_;
  LimitSet limits_;
  std::unique_ptr<PamSession> session_;
};

}  // namespace muster::agent
