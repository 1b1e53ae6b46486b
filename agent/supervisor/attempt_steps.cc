#include "agent/supervisor/attempt_steps.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "agent/supervisor/joined_step.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_scan.h"

namespace muster::agent {

AttemptSteps::AttemptSteps(const Parts& parts, Handlers handlers)
    : parts_(parts),
      handlers_(std::move(handlers)),
      closing_(parts.loop),
      pmix_(parts.loop, closing_, parts.log, parts.directory, parts.order),
      containers_(parts.loop, parts.log, parts.directory, parts.order) {}

void AttemptSteps::ListenToInnerRanks(std::uint32_t node_index) {
  node_index_ = node_index;
  InnerRanks::Host host{.loop = parts_.loop,
                        .clock = parts_.clock,
                        .order = parts_.order,
                        .reporter = parts_.reporter,
                        .node_index = node_index,
                        .user = parts_.confinement.user()};
  absl::StatusOr<std::unique_ptr<InnerRanks>> opened =
      InnerRanks::Open(host, RankSocket(parts_.order.hostfile));
  if (opened.ok()) {
    inner_ranks_ = *std::move(opened);
  } else {
    parts_.log.Warning("supervisor", std::string(opened.status().message()));
  }
}

// Only the script's node has a list of the job's nodes, without which no launcher asks.
void AttemptSteps::ListenToRemoteShells() {
  if (remote_shells_ != nullptr || node_index_ != 0 || inner_ranks_ == nullptr ||
      parts_.order.remote_shell.empty()) {
    return;
  }
  const Confinement& confinement = parts_.confinement;
  absl::StatusOr<std::unique_ptr<RemoteShells>> opened =
      RemoteShells::Open({.loop = parts_.loop,
                          .log = parts_.log,
                          .order = parts_.order,
                          .node_index = node_index_,
                          .user = confinement.user(),
                          .cgroup = confinement.cgroup(),
                          .mounts = confinement.mounts(),
                          .container_of = [this](pid_t pid) { return ContainerOf(pid); }});
  if (opened.ok()) {
    remote_shells_ = *std::move(opened);
  } else {
    parts_.log.Warning("supervisor", std::string(opened.status().message()));
  }
}

ContainerSpec AttemptSteps::ContainerOf(pid_t pid) const {
  for (pid_t at = pid; at > 1 && at != getpid(); at = ParentOf(at)) {
    if (const Step* const step = Find(at); step != nullptr) {
      return step->plan().container;
    }
  }
  return {};
}

void AttemptSteps::Launch(StepPlan plan) {
  const StepId id = plan.step;
  const absl::Status joined = JoinJob(parts_.order, running_, &plan);
  const Confinement& confinement = parts_.confinement;
  if (inner_ranks_ != nullptr && StartsInnerRanks(plan.program)) {
    inner_ranks_->LookFor(IsHydra(plan.program));
  }
  StepHandlers handlers;
  handlers.on_started = [this, id] { handlers_.on_started(id); };
  handlers.on_ended = [this, id] { OnEnded(id); };
  pmix_.RunIn(confinement.user(), confinement.cgroup(), confinement.mounts());
  containers_.RunIn(confinement.user(), confinement.cgroup(), confinement.mounts());
  if (plan.container.given()) {
    ListenToRemoteShells();
  }
  PmixGrant grant = pmix_.Grant(plan, NewsOf(id));
  grant.refusal.Update(joined);
  const StepHost host{.loop = parts_.loop,
                      .clock = parts_.clock,
                      .log = parts_.log,
                      .order = parts_.order,
                      .reporter = parts_.reporter,
                      .closing = closing_,
                      .cgroup = confinement.cgroup(),
                      .mounts = confinement.mounts(),
                      .private_tmp = confinement.private_tmp(),
                      .user = confinement.user(),
                      .containers = &containers_};
  taken_.insert(id);
  std::unique_ptr<Step>& step = running_[id];
  step = std::make_unique<Step>(host, std::move(plan), std::move(handlers));
  step->Start(std::move(grant));
}

// For the step `id`, while it is there.
PmixNews AttemptSteps::NewsOf(StepId id) {
  const auto tell = [this, id](auto&& what) {
    const auto step = running_.find(id);
    if (step != running_.end()) {
      what(*step->second);
    }
  };
  PmixNews news;
  news.on_abort = [tell](std::uint32_t rank, int code, const std::string& text) {
    tell([&](Step& step) { step.Aborted(rank, code, text); });
  };
  news.on_joined = [tell] { tell([](Step& step) { step.RankJoined(); }); };
  news.on_broken = [tell](const StepBreak& why) {
    tell([&](Step& step) { step.BrokenElsewhere(why); });
  };
  return news;
}

void AttemptSteps::OnEnded(StepId id) {
  const auto found = running_.find(id);
  if (found != running_.end()) {
    std::unique_ptr<Step> step = std::move(found->second);
    running_.erase(found);
    handlers_.on_ended(std::move(step));
  }
}

void AttemptSteps::ToldToEnd(bool by_others) {
  for (const auto& [id, step] : running_) {
    step->ToldToEnd(by_others);
  }
}

void AttemptSteps::DropConnections() {
  for (const auto& [id, step] : running_) {
    step->DropConnection();
  }
}

void AttemptSteps::Close() {
  containers_.Close();  // before the end is reported, so that who hears of it finds them free
  pmix_.Close();
  if (inner_ranks_ != nullptr) {
    inner_ranks_->Close();
  }
}

Step* AttemptSteps::Find(pid_t pid) const {
  const auto found = std::find_if(running_.begin(), running_.end(), [pid](const auto& each) {
    return each.second->ranks().Find(pid) != nullptr;
  });
  return found == running_.end() ? nullptr : found->second.get();
}

pid_t AttemptSteps::LoneScript() const {
  const auto found = running_.find(StepId());
  return found == running_.end() || running_.size() > 1 ? 0 : found->second->ranks().Leader();
}

}  // namespace muster::agent
