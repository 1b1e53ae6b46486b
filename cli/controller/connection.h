#pragma once

// The controller, as the verbs call it: model values in, model values out, blocking.
//
// The only place of the cli that knows gRPC. Every call has a deadline. A call that changes
// something is tried again with the same token while the controller restarts (Patience::changing);
// a call that only reads gives up earlier. Errors are one line ready for the user and never
// InvalidArgument, which stands for bad usage: Unavailable when no controller answers. Thread
// promise: safe from any thread; each call blocks its own.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/parse/selector.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/tuning.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/view/explanation.h"
#include "scheduler/model/view/shares.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// How long a call goes on trying while no controller answers.
struct Patience {
  std::chrono::milliseconds changing{10'000};
  std::chrono::milliseconds reading{1'500};
};

struct ClusterStatus {
  std::string cluster;
  std::string version;
  std::uint64_t epoch = 0;
  std::uint32_t nodes = 0;
  std::uint32_t nodes_connected = 0;
  std::uint32_t jobs_pending = 0;
  std::uint32_t jobs_running = 0;
};

struct JobFilter {
  std::vector<std::string> states;  // names; empty: all
  std::string user;                 // empty: all users'
  std::vector<JobId> jobs;          // empty: all
  bool fold = false;  // one view for all untouched elements of an array that wait for the same
};

// What Submit does with a job that the known nodes can never hold.
struct Misfit {
  bool refuse = false;  // or it is taken, and `why` says so
  std::string why;
};

// Where and when a job would start.
struct StartForecast {
  Time start = kNoTime;  // kNoTime: unknown
  std::vector<std::string> nodes;
  std::string reason;  // why not now
  bool never = false;  // not on this cluster as it is
};

struct HistoryQuery {
  JobFilter jobs;
  Time since = kNoTime;     // ended at or after
  std::uint32_t limit = 0;  // newest first; 0: the controller's default
};

// What Cancel, Hold, Requeue and Update did; one line for each job that could not be changed.
struct ChangeOutcome {
  std::vector<std::string> errors;
  std::uint32_t changed = 0;
};

struct StartedStep {
  StepId step;
  Allocation placement;    // empty: it waits, or, asked again with the same token, has ended
  std::string waits = {};  // what for
};

// A step to look at.
struct ShownStep {
  JobId job;
  StepId step;
  Allocation placement;
};

// What WatchJob tells at each change.
struct JobNews {
  JobView job;
  Allocation allocation;  // empty until the job has one
};

// The nodes that were asked for.
struct NodeList {
  std::vector<NodeView> nodes;
  std::vector<LargestGpuJob> largest;  // when all are
};

class Connection {
 public:
  // Connects lazily; fails only on an address that gRPC cannot take.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const Address& address,
                                                          Patience patience = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  absl::StatusOr<ClusterStatus> Ping();
  // `components`: of a heterogeneous job, those after the first; the answer is the first's id.
  absl::StatusOr<JobId> Submit(const std::string& token, const JobSpec& spec,
                               const Program& program,
                               const std::vector<Component>& components = {},
                               Misfit* misfit = nullptr);
  absl::StatusOr<StartedStep> StartStep(const std::string& token, JobId job, const StepSpec& spec,
                                        const Program& program);
  // `step` unset: the processes of `scope`; `signal` 0: ends the step.
  absl::StatusOr<ChangeOutcome> Signal(const std::vector<JobSelector>& jobs,
                                       std::optional<StepId> step, std::uint32_t signal,
                                       SignalScope scope);
  // The step's supervisors call `io`. `step` unset: the one that runs.
  absl::StatusOr<ShownStep> Attach(const JobSelector& job, std::optional<StepId> step,
                                   const StepIo& io, bool input);
  // When a job like this would start; nothing is submitted.
  absl::StatusOr<StartForecast> TestSubmit(const std::string& token, const JobSpec& spec,
                                           const Program& program,
                                           const std::vector<Component>& components);
  absl::StatusOr<ChangeOutcome> Cancel(const std::vector<JobSelector>& jobs, bool all_of_user);
  absl::StatusOr<ChangeOutcome> Hold(const std::vector<JobSelector>& jobs, bool held);
  absl::StatusOr<ChangeOutcome> Requeue(const std::vector<JobSelector>& jobs);
  // False has them resume.
  absl::StatusOr<ChangeOutcome> Suspend(const std::vector<JobSelector>& jobs, bool suspended);
  absl::StatusOr<ChangeOutcome> Update(const std::vector<JobSelector>& jobs,
                                       const JobUpdate& changes, bool force);
  absl::Status Drain(const std::string& node, bool drained, const std::string& reason);

  // The number of the check that was ordered, or that will be once the node is idle.
  absl::StatusOr<std::uint64_t> CheckHealth(const std::string& node, HealthKind kind, bool wait);
  // By name (none: all nodes), with the newest `history` checks of each.
  absl::StatusOr<std::vector<HealthView>> ListHealth(const std::vector<std::string>& names,
                                                     std::uint32_t history);

  absl::Status PutTuning(const Tuning& tuning);
  // Of the kernel, the newest first.
  absl::StatusOr<std::vector<Tuning>> ListTunings(const std::string& kernel);

  absl::Status ChangePolicy(PolicyVerb verb, PolicyKind kind, const std::string& name,
                            const std::vector<Assignment>& assignments);
  absl::StatusOr<std::vector<PolicyView>> ListPolicy(const std::vector<PolicyKind>& kinds);
  // Newest first; `name` "": all; `limit` 0: the controller's default.
  absl::StatusOr<std::vector<PolicyChangeView>> PolicyHistory(const std::vector<PolicyKind>& kinds,
                                                              const std::string& name,
                                                              std::uint32_t limit);

  absl::StatusOr<std::vector<JobView>> ListJobs(const JobFilter& filter);
  absl::StatusOr<std::vector<JobView>> ListHistory(const HistoryQuery& filter);
  // `with_script`: with the batch script of a job of the caller's own.
  absl::StatusOr<std::vector<JobDetail>> ShowJob(const JobSelector& job, bool with_script = false);
  absl::StatusOr<JobExplanation> Explain(const JobSelector& job);
  // The account tree; with the runs of `explain_user`, unless that is "".
  absl::StatusOr<Shares> ListShares(const std::string& explain_user);
  absl::StatusOr<NodeList> ListNodes(const std::vector<std::string>& names, bool with_machine);

  // Calls `tell` with the job's news until the stream ends or `tell` says false. OK means the job
  // is in a terminal state or `tell` had enough; Unavailable that the controller went away.
  absl::Status WatchJob(JobId job, const std::function<bool(const JobNews&)>& tell);
  // Ends every WatchJob that other threads wait in, and every later one. Safe from any thread.
  void StopWatching();
  // Waits until that was called, for so long at most; whether it was. Safe from any thread.
  bool StopsWatchingWithin(std::chrono::milliseconds time);

 private:
  struct Channel;  // gRPC's, kept out of this header
  Connection(Address address, Patience patience, std::unique_ptr<Channel> channel);

  const Address address_;
  const Patience patience_;
  const std::unique_ptr<Channel> channel_;
};

// Turns off what gRPC would do at start-up for features that we do not use, and its own lines on
// stderr. Sets environment variables: call it from main, before threads.
void QuietGrpc();

}  // namespace muster::cli
