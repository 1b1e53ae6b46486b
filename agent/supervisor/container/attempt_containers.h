#pragma once

// The containers of an attempt on this node: one for each request that differs, whichever steps
// make it, so that its ranks share mounts and what they change.
//
// Each is made by a process of the job's user in the attempt's control group (muster-container),
// which fetches the image first if it must. Ranks enter it by its namespaces, which stay while we
// hold their descriptors; no process of ours is in it. Thread promise: the loop's thread.
// Invariants: (1) an answer comes from the loop, once; (2) a container that could not be made is
// tried again by the next who asks.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// One that ranks can enter.
struct Container {
  ContainerSpec spec;
  ContainerMade facts;
  UniqueFd users;  // its namespaces
  UniqueFd mounts;
  std::vector<UniqueFd> locks;  // keep its files
  // Of the node's programs those that are seen in it, by their paths outside; empty: none are.
  std::string rank_program;
  std::string remote_shell;

  // Where its ranks begin.
  [[nodiscard]] std::string WorkDir() const;
};

class AttemptContainers {
 public:
  using Done = std::function<void(absl::StatusOr<const Container*>)>;

  // REQUIRES: the references outlive it.
  AttemptContainers(EventLoop& loop, const Logger& log, const AttemptDirectory& directory,
                    const SupervisorOrder& order);
  AttemptContainers(const AttemptContainers&) = delete;
  AttemptContainers& operator=(const AttemptContainers&) = delete;
  ~AttemptContainers();

  // What those that are made from now on are held in; `mounts`: a mount namespace, or -1.
  void RunIn(const JobUser* user, const AttemptCgroup* cgroup, int mounts);
  // Calls `done` with the container, made now or before; it lives as long as this.
  void Enter(const ContainerSpec& spec, Done done);
  // Saves such a container as it says; calls `done` with why that failed. None was made: there is
  // nothing to save.
  void Save(const ContainerSpec& spec, std::function<void(absl::Status)> done);
  // No process will enter one any more: what no process is in goes.
  void LetGo();
  // No process is in one any more, and nothing saves one: others may have their names and images.
  void Close() { made_.clear(); }
  // "sha256:…" of the image of such a container; "": there is none yet.
  [[nodiscard]] std::string ImageOf(const ContainerSpec& spec) const;

 private:
  class Running;
  class Making;
  class Saving;

  [[nodiscard]] absl::StatusOr<ContainerOrder> OrderOf(const ContainerSpec& spec) const;
  [[nodiscard]] absl::StatusOr<UniqueFd> Ask(const ContainerOrder& order, UniqueFd* said) const;
  absl::Status Begin(Making* making);
  absl::Status BeginSave(const Container& container, Saving* saving);
  void Saved(Saving* saving, const absl::Status& status);
  void Finish(Making* making, absl::StatusOr<std::unique_ptr<Container>> made);

  EventLoop& loop_;
  const Logger& log_;
  const AttemptDirectory& directory_;
  const SupervisorOrder& order_;
  const std::string program_;
  const JobUser* user_ = nullptr;
  const AttemptCgroup* cgroup_ = nullptr;
  int mounts_ = -1;
  std::vector<std::unique_ptr<Making>> making_;
  std::vector<std::unique_ptr<Container>> made_;
  std::vector<std::unique_ptr<Saving>> saving_;
};

}  // namespace muster::agent
