#pragma once

// One step's ranks on this node, from launch to the last byte of their output. The batch script is
// step 0 with one rank that has all of the node's cores.
//
// Wires the classes that each do a part of it. Thread promise: the loop's thread. Invariants: (1)
// the binding is reported before the step's end; (2) a client that watches hears of every rank's
// end before that of the step, or is lost; (3) on_ended is called once, last.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/step/attached_clients.h"
#include "agent/supervisor/step/binding_reader.h"
#include "agent/supervisor/step/rank_launcher.h"
#include "agent/supervisor/step/rank_streams.h"
#include "agent/supervisor/step/step_connection.h"
#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_ranks.h"
#include "agent/supervisor/step/step_verdict.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

struct StepHandlers {
  std::function<void()> on_started;  // all ranks here run; not called when one could not start
  std::function<void()> on_ended;
};

class Step {
 public:
  Step(StepHost host, StepPlan plan, StepHandlers handlers);

  // Prepares and forks all ranks, once what they need of their user's space is open. What goes
  // wrong ends the step through on_ended, not here.
  void Start(PmixGrant pmix);
  // `pid` has ended and is a zombie yet: the last moment to read it.
  void BeforeReap(pid_t pid);
  // It was reaped.
  void Reaped(pid_t pid, int wait_status, const rusage& usage);

  // SIGTERM to every rank, SIGKILL after `grace`.
  void Terminate(Duration grace);
  // See AttachedClients.
  absl::Status Show(const StepIo& io, bool input);
  // Gives up on output that no client takes: for an attempt that is being ended by force.
  void DropConnection();
  // A rank aborted through PMIx: its code is the step's.
  void Aborted(std::uint32_t rank, int code, const std::string& message);
  // A rank has joined MPI: the nodes of the step need one another.
  void RankJoined();
  // The ranks here cannot go on, for a reason on another node: its status is the step's.
  void BrokenElsewhere(const StepBreak& why);
  // The whole attempt is ordered to end, here and elsewhere: what ends now breaks nothing.
  // `by_others`: for what happened on other nodes.
  void ToldToEnd(bool by_others) { verdict_.TellToEnd(by_others); }

  [[nodiscard]] StepId id() const { return plan_.step; }
  // How it ends, as far as is known.
  [[nodiscard]] const StepVerdict& verdict() const { return verdict_; }
  [[nodiscard]] const StepRanks& ranks() const { return ranks_; }

 private:
  void Opened(absl::Status status);
  absl::StatusOr<StepConnection*> Connect(UniqueFd socket);
  [[nodiscard]] StepGreeting Greeting() const;
  void Settle(StepRank* rank, const LaunchOutcome& outcome);
  void FailRank(StepRank* rank, int code, const std::string& text);
  void CheckStarted();
  bool TakeRestored(StepRank* rank, pid_t pid, int* wait_status);
  void EndRank(StepRank* rank, ExitStatus status);
  void OnConnectionLost();
  void CheckEnded();
  void Finish();

  const StepHost host_;
  const StepPlan plan_;
  const StepHandlers handlers_;
  std::unique_ptr<StepPmix> pmix_;
  StepRanks ranks_;
  StepVerdict verdict_;
  RankLauncher launcher_;
  BindingReader bindings_;
  std::unique_ptr<StepConnection> connection_;
  RankStreams streams_;
  AttachedClients attached_;  // goes before the connection that they copy
  Usage usage_;
  bool forked_ = false;
  bool started_ = false;
  bool met_ = false;  // the nodes were asked to meet
  bool draining_ = false;
  bool done_sent_ = false;
  bool ended_ = false;
  OwnTimers timers_;
};

// The steps of an attempt that run here.
using StepMap = std::map<StepId, std::unique_ptr<Step>>;

}  // namespace muster::agent
