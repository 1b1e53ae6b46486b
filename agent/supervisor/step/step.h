#pragma once

// One step's ranks on this node, from launch to the last byte of their output. The batch script is
// step 0 with one rank that has all of the node's cores.
//
// Thread promise: the loop's thread. Invariants: (1) a rank is read back exactly once, after its
// exec and before it is reaped; (2) the binding is reported before the step's end; (3) a process is
// signalled only between its fork and its reaping, so its pid is its own; (4) on_ended is called
// once, last.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/launch/terminal.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/step/onlookers.h"
#include "agent/supervisor/step/rank_pipes.h"
#include "agent/supervisor/step/step_connection.h"
#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_ranks.h"
#include "agent/supervisor/step/step_verdict.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/job_user.h"
#include "agent/supervisor/user_space/output_path.h"
#include "agent/supervisor/user_space/step_opening.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "topology/bind/read_back.h"

namespace muster {

struct StepHandlers {
  std::function<void()> on_started;  // all ranks here run; not called when one could not start
  std::function<void()> on_ended;
};

class Step {
 public:
  Step(StepHost host, StepPlan plan, StepHandlers handlers);
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  ~Step();

  // Prepares and forks all ranks, once what they need of their user's space is open. What goes
  // wrong ends the step through on_ended, not here.
  void Start(PmixGrant pmix);
  // `pid` has ended and is a zombie yet: the last moment to read it.
  void BeforeReap(pid_t pid);
  // It was reaped.
  void Reaped(pid_t pid, int wait_status, const rusage& usage);

  // SIGTERM to every rank, SIGKILL after `grace`.
  void Terminate(Duration grace);
  // Has what the ranks print from now on sent to `io` as well; `input`: what comes back is typed
  // into the terminal. FailedPrecondition when no client watches the step, or it has no terminal;
  // that `io` cannot be reached goes to the log.
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
  using Rank = StepRank;
  static constexpr int kReadBackTries = 8;  // a millisecond apart, while the exec completes

  void MakeCgroup();
  StepOpening OpeningOf() const;
  // The paths that the rank writes to.
  std::string OutputOf(const Rank& rank) const;
  std::string ErrorOf(const Rank& rank) const;
  void Opened(absl::StatusOr<Brought> brought);
  absl::Status TakeOpened(absl::StatusOr<Brought> brought);
  absl::Status Connect(UniqueFd socket);
  void LogUnshown(const absl::Status& why) const;
  absl::Status ShowOn(absl::StatusOr<Brought> brought, const std::string& token, bool input);
  absl::Status TakeFiles(Rank* rank);
  // That a file which the rank writes to lies on a full file system, if it does.
  std::string FullOutput(const Rank& rank);
  // "rank 3 on n1: ", or for a batch script "n1: ".
  std::string Where(const Rank& rank) const;
  absl::Status OpenStreams(Rank* rank);
  absl::Status OpenTerminal(Rank* rank);
  void TypeIn(const std::string& data);
  [[nodiscard]] bool InputFull() const;
  void CheckInput();
  StepGreeting Greeting() const;
  absl::Status LaunchRank(Rank* rank);
  LaunchRequest RequestOf(const Rank& rank) const;
  // Restoring (step_restore.cc). True: the rank has ended, with `*wait_status`.
  bool EndsRestored(Rank* rank, pid_t pid, int* wait_status);
  PlannedBinding PlanOf(const Rank& rank) const;
  void ReadSaid(Rank* rank);
  void Settle(Rank* rank, const LaunchOutcome& outcome);
  std::string FailureText(const LaunchOutcome& outcome) const;
  void FailRank(Rank* rank, int code, const std::string& text);
  void TryReadBack(Rank* rank, int tries_left);
  void TakeReading(Rank* rank, ObservedBinding found);
  void CheckStarted();
  void ReportBindings();
  void EndRank(Rank* rank, ExitStatus status);
  [[nodiscard]] bool OthersLeft() const;
  void OnConnectionLost();
  void CheckEnded();
  void Finish();
  bool OutputTaken() const;
  void CloseOutput();
  PatternValues ValuesOf(const Rank& rank) const;

  StepHost host_;
  StepPlan plan_;
  StepHandlers handlers_;
  std::optional<AttemptCgroup> cgroup_;  // in the attempt's
  std::unique_ptr<StepPmix> pmix_;
  StepRanks ranks_;
  StepVerdict verdict_;
  absl::Status refusal_;  // why it may not start
  StepOpening opening_;
  std::unique_ptr<UserTask> task_;         // opens that
  std::deque<UniqueFd> inputs_opened_;     // of the ranks in their order
  std::map<std::string, UniqueFd> files_;  // by path; ranks that name one file share it
  std::unique_ptr<StepConnection> connection_;
  std::unique_ptr<Onlookers> onlookers_;  // before the connection that they copy goes
  std::map<std::uint64_t, std::unique_ptr<UserTask>> showing_;  // connections to onlookers
  std::uint64_t next_showing_ = 0;
  std::vector<std::pair<StepIo, bool>> early_looks_;  // asked for before the step was opened
  std::optional<StepTerminal> terminal_;              // rank 0's
  std::vector<std::unique_ptr<InputPipe>> inputs_;    // of the ranks that get what the client sends
  std::string pmix_note_;
  Usage usage_;
  std::uint16_t master_port_ = 0;
  bool forked_ = false;
  bool started_ = false;
  bool met_ = false;  // the nodes were asked to meet
  bool draining_ = false;
  bool done_sent_ = false;
  bool disk_hangs_ = false;  // it did not say whether it is full
  bool ended_ = false;
  OwnTimers timers_;
};

// The steps of an attempt that run here.
using StepMap = std::map<StepId, std::unique_ptr<Step>>;

}  // namespace muster
