#pragma once

// `muster run` while its step runs: output, input, signals, the job's end, and the exit code.
//
// Ties the listener, the session, the watch and the signals together on one loop. Output comes
// straight from the nodes, so a controller that goes away disturbs nothing. Where a connection to a
// node breaks, the controller's word on the job or step counts. Thread promise: the loop's owner.
// Invariants: Run() returns exactly once, with 0-255; what completed is not reported as failed.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/controller/connection.h"
#include "cli/controller/job_watch.h"
#include "cli/run/rank_files.h"
#include "cli/run/stream/raw_terminal.h"
#include "cli/run/stream/stdin_pump.h"
#include "cli/run/stream/step_io.h"
#include "cli/run/stream/step_listener.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::cli {

struct RunPlan {
  JobId job;
  bool own_job = true;                 // false: a step of the job that we are in
  std::optional<std::uint32_t> nodes;  // how many have ranks of the step, once known
  std::string token;                   // the step's
  // Of a heterogeneous job: what the components after the first show; their ids follow the job's.
  std::vector<std::string> component_tokens = {};
  bool label = false;
  bool end_on_bad_exit = false;
  Duration rest_may_take{0};      // once a rank has ended, until the others are ended; 0: for ever
  bool end_on_interrupt = false;  // the first Ctrl-C ends the step
  OutputChoice output = {};
  StepNames names = {};
  int input = 0;                 // a descriptor; -1: the ranks have no input of ours
  std::uint64_t input_rate = 0;  // bytes a second of it, at the most; 0: any
  bool show_waiting = false;     // tell why the job waits, also when it may start soon
  bool looks_on = false;         // at a step that another `muster run` watches
  bool quiet = false;            // says nothing of how ranks end
  bool terminal = false;         // rank 0 has a terminal, and ours is to be its
  std::string waits = {};        // what the step waits for; empty: nothing
  // What of the ranks' standard output goes on; without it all.
  std::function<std::string_view(std::string_view)> passes = {};
  // Has the ranks' standard output instead of ours.
  std::function<void(const RankSource& rank, std::string_view bytes)> takes = {};
  // Of a step: what has become of the request for it.
  std::function<absl::StatusOr<StartedStep>()> ask_again = {};
};

class RunSession {
 public:
  // `signals` comes from BlockSignals; all references outlive the session.
  RunSession(EventLoop& loop, Connection& connection, StepListener& listener,
             const UniqueFd& signals, RunPlan plan);
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;
  ~RunSession();

  // Until the step and its job have ended.
  absl::StatusOr<int> Run();

 private:
  void OnChange();
  void OnNews(std::size_t component, const JobNews& news);
  [[nodiscard]] const JobNews& Telling() const;
  void ExpectNodes();
  void OnSignals();
  void OnInterrupt();
  void InterruptWaiting();
  void KillStep();
  void ExpectStep(SteadyTime until);
  void WatchJobs();
  void AwaitTurn();
  void Resize();
  void Forward(int signal);
  void GiveUp(int signal);
  void CancelJob();
  void TellWaiting();
  void JobEnded();
  void AwaitEnd();
  void AskAboutStep();
  [[nodiscard]] absl::StatusOr<StepView> StepNow();
  int StepCode(const absl::StatusOr<StepView>& step);
  int CodeOf(const std::string& what, const std::string& state, const std::string& text,
             const ExitStatus& exit);
  void TellLoss();
  void Write(const RankSource& rank, bool error, std::string_view bytes);
  void Tell(const std::string& line);
  void Finish(int code);
  [[nodiscard]] bool Whole() const { return step_.Done() && !step_.Lost(); }
  int JobCode();

  EventLoop& loop_;
  Connection& connection_;
  StepListener& listener_;
  const UniqueFd& signals_;
  const RunPlan plan_;
  const SystemClock clock_;
  StepSession step_;
  RankFiles files_;
  StdinPump input_;
  std::vector<std::unique_ptr<JobWatch>> watches_;  // of each component
  std::vector<JobNews> news_;                       // the last of each
  JobView job_;                                     // of what ended worst, or the first
  bool job_ended_ = false;
  bool finishing_ = false;   // the step is done; only the job's end is waited for
  bool broken_ = false;      // no process reads our output any more
  bool unwritten_ = false;   // a file could not be written
  bool queued_ = false;      // the step waits for others
  bool ending_ = false;      // Ctrl-C came twice
  bool rest_timed_ = false;  // a rank has ended
  bool loss_seen_ = false;   // the connection to a node broke
  bool loss_told_ = false;
  SteadyTime ask_until_ = SteadyTime::max();  // about the step; max: no question
  RawTerminal terminal_;
  std::string waiting_told_;
  std::optional<SteadyTime> interrupted_;
  std::optional<int> pending_signal_;  // to send once the ranks are there
  int exit_code_ = 0;
};

}  // namespace muster::cli
