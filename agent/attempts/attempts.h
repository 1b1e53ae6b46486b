#pragma once

// The attempts on this node: each has a supervisor, or is being cleared, or has ended.
//
// Every change begins with the attempt's directory (attempt_status.h), so that starting, adopting
// after a restart of the agent and cleaning up after a dead supervisor are one path. Thread
// promise: the owner of the loop. Invariants: (1) an attempt is supervised at most once: a process
// that writes its end into the journal holds its claim, or knows the claim's holder dead; (2)
// RunEnded is written only when nothing of the attempt is left.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/attempts/attempt_cgroups.h"
#include "agent/attempts/children.h"
#include "agent/attempts/mps_daemons.h"
#include "agent/attempts/orphans.h"
#include "agent/attempts/passed_order.h"
#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/attempts/running_attempt.h"
#include "agent/attempts/supervisor_calls.h"
#include "agent/attempts/supervisor_starts.h"
#include "agent/attempts/trash_sweep.h"
#include "agent/supervisor/attempt/order_file.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class Attempts {
 public:
  struct Config {
    std::string supervisor;                // the program
    std::vector<std::string> environment;  // what it is started with
    SiteScripts scripts;                   // run around jobs and steps
    bool private_tmp = false;              // each has a /tmp and a /dev/shm of its own
    ContainerSettings containers;          // for jobs in containers
    StagingSettings staging;               // for copies of data
    NetworkClasses network;                // the node's
    std::string mps_base;  // where MPS's daemons have their directories; empty: none
    AttemptCgroups cgroups;
    NodeLimits limits;                               // what attempts are held to
    std::chrono::milliseconds answer_within{10000};  // a supervisor's answer to an order
  };
  using News = std::function<void(const AttemptKey&)>;

  // `news` is called when an attempt's journal may have grown. All references outlive this object.
  Attempts(EventLoop& loop, const Clock& clock, const Logger& log, StateDirectory& state,
           Config config, News news);
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;
  ~Attempts();

  // Takes up what an earlier agent left: adopts, starts, clears or ends each attempt on record.
  absl::Status Recover();

  // Takes an order: records it and starts its supervisor. AlreadyExists when the attempt is known.
  // What the disk or a limit of this process does not let it do is tried again until it can. The
  // order's own settings of containers say only whether the controller shares images.
  absl::Status Launch(SupervisorOrder order, const NodeAllocation& allocation);

  // For attempts that are launched from now on.
  void UseScripts(SiteScripts scripts) { config_.scripts = std::move(scripts); }
  // Records an attempt that is not run here as ended before it began, and why.
  void Refuse(const AttemptKey& key, const std::string& text);

  // Passes an order to the attempt's supervisor. NotFound when the attempt is not known, and for a
  // step when none supervises it here; one that has ended has nothing to obey. An order to end one
  // that is not known records it as ended before it began, so that a launch order which comes late
  // finds it there.
  absl::Status Pass(const PassedOrder& order);

  // Tells the supervisors of elastic jobs up to when they may go on.
  void RenewLeases(SteadyTime until);

  // Forgets an attempt whose end the controller has acknowledged, leaving nothing of it.
  void Remove(const AttemptKey& key);

  // Of this node; null: the attempt is not known here.
  const NodeAllocation* AllocationOf(const AttemptKey& key) const {
    const auto found = attempts_.find(key);
    return found == attempts_.end() ? nullptr : &found->second.allocation;
  }
  std::vector<AttemptKey> Keys() const;
  // Those under way.
  std::map<AttemptKey, RunningAttempt> Running() const;
  // What the registration says of them.
  std::vector<KnownAttempt> Known() const;

  // Tries again what could not be settled, and reaps. Called every few seconds.
  void Check();

 private:
  enum class Phase { kUnsettled, kSupervised, kClearing, kEnded };
  struct LocalAttempt {
    Phase phase = Phase::kUnsettled;
    NodeAllocation allocation;
    std::string cgroup;
    std::string mps;  // the pipe directory of a daemon of ours that it uses
    bool elastic = false;
    pid_t child = 0;                         // the supervisor, where we spawned it
    pid_t supervisor = 0;                    // the same, or the one that was adopted
    bool tried = false;                      // a supervisor was spawned and has ended
    bool epilog_tried = false;               // the same for a process that runs the epilog
    std::string failure;                     // how it ended
    UniqueFd pidfd;                          // the supervisor's; watched while valid
    std::optional<SupervisorOrder> unbegun;  // its order, until a supervisor could be started
    std::optional<RunEnded> unwritten;       // its end, which the disk did not take yet
  };

  void Settle(const AttemptKey& key);
  void StartSupervisor(const AttemptKey& key);
  void FailLaunch(const AttemptKey& key, const std::string& text);
  // Watches the process that holds a claim: the supervisor, or what runs the epilog after one.
  void Adopt(const AttemptKey& key, const absl::StatusOr<ProcessIdentity>& claim, Phase phase);
  // `pidfd` is that of `pid`, which supervises the attempt.
  absl::Status Watch(const AttemptKey& key, pid_t pid, absl::StatusOr<UniqueFd> pidfd);
  void Unwatch(const AttemptKey& key);
  void SupervisorEnded(const AttemptKey& key);
  // What comes when nothing is left of a dead supervisor's attempt: the site's epilog, if it was
  // not begun, and the end.
  void EndLost(const AttemptKey& key);
  absl::Status StartEpilog(const AttemptKey& key, const SiteScript& epilog);
  void End(const AttemptKey& key, EndCause cause, const std::string& text,
           const std::string& node_fault = "");
  void WriteEnd(const AttemptKey& key);

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  StateDirectory& state_;
  Config config_;
  const News news_;
  Children children_;
  SupervisorStarts starts_;
  TrashSweep sweep_;
  MpsDaemons mps_;
  std::map<AttemptKey, LocalAttempt> attempts_;
  SupervisorCalls calls_;  // from here on: what calls into the attempts
  Clearing clearing_;
};

}  // namespace muster::agent
