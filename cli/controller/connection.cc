#include "cli/controller/connection.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "cli/controller/reach.h"
#include "cli/controller/standing.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/convert.h"
#include "proto/convert/origin.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using Stub = wire::Controller::Stub;

constexpr milliseconds kCallTimeout{30'000};
constexpr milliseconds kCallTimeoutOfSeveral{6'000};  // one that does not answer may lead no more
constexpr std::size_t kFirstCallBytesMax = 32 << 10;
constexpr milliseconds kRetryPause{50}, kBusyPause{500};
constexpr milliseconds kConnectPatience{500};  // between two looks at the socket

template <class Value, class Messages>
absl::StatusOr<std::vector<Value>> ReadAll(const Messages& messages) {
  std::vector<Value> values(static_cast<std::size_t>(messages.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const absl::Status status = FromWire(messages.Get(static_cast<int>(i)), &values[i]);
    if (!status.ok()) {
      return absl::InternalError(
          absl::StrCat("bad reply: ", std::string(status.message()), ": update muster"));
    }
  }
  return values;
}

template <class Messages>
void WriteSelectors(const std::vector<JobSelector>& jobs, Messages* messages) {
  for (const JobSelector& job : jobs) {
    wire::JobSelector* message = messages->Add();
    message->set_job(job.job.value());
    message->mutable_elements()->Add(job.elements.begin(), job.elements.end());
  }
}

template <class Reply>
ChangeOutcome OutcomeOf(const std::vector<JobSelector>& jobs, const Reply& reply) {
  const std::vector<std::string> errors(reply.errors().begin(), reply.errors().end());
  return ChangeOutcome{
      .errors = errors,
      .changed = static_cast<std::uint32_t>(jobs.size() - std::min(jobs.size(), errors.size()))};
}

}  // namespace

struct Connection::Channel {
  // One controller of the cluster.
  struct End {
    Address address;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<Stub> stub;
  };
  std::vector<End> ends;
  std::atomic<std::size_t> at = 0;  // of them, the one that is called
  std::atomic<bool> sought = false;

  [[nodiscard]] const End& Here() const { return ends[at]; }

  // Of several controllers calls the one that leads from now on, or else a standby that answers:
  // it answers questions, and says of a change that it may be made again.
  void Seek() {
    if (ends.size() == 1) {
      return;
    }
    sought = true;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const End& end = ends[i];
      const bool there = end.address.kind == Address::Kind::kTcp ||
                         (end.address.path.size() <= kSocketPathBytesMax &&
                          ProbeSocket(end.address.path) == 0);
      const absl::StatusOr<ControllerStanding> standing =
          there ? ReadStanding(end.channel) : absl::UnavailableError("");
      if (standing.ok()) {
        at = i;
        if (standing->leads) {
          return;
        }
      }
    }
  }

  std::mutex mutex;                         // guards what is below
  std::set<grpc::ClientContext*> watching;  // the streams that are being waited for
  bool stopped = false;
  std::condition_variable stops;

  // Waits until the channel is connected, for a while. gRPC reads from a new connection only while
  // somebody waits for it: between calls that fail at once it would stay half open for seconds.
  void Connect() const {
    Here().channel->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience);
  }

  // A controller lets nobody send much before it knows who that is, and a call has sent its message
  // by then: a large one is not the first on its connection.
  grpc::Status Greet() const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    wire::PingReply reply;
    return Here().stub->Ping(&context, wire::PingRequest(), &reply);
  }

  // Makes one unary call, again and again while nobody answers and `patience` lasts.
  template <class Request, class Reply>
  absl::Status Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, Reply* reply, const Address& asked,
                    milliseconds patience) {
    const bool several = ends.size() > 1;
    const SystemClock clock;
    const SteadyTime give_up = clock.SteadyNow() + patience;
    bool known = false;  // to the controller, on this connection
    for (bool first = true;; first = false) {
      bool busy = false;
      if (!first || !sought) {
        Seek();
      }
      const End& end = Here();
      const Address& address = end.address;
      const int error = address.kind == Address::Kind::kUnix ? ProbeSocket(address.path) : 0;
      if (!several && (error == EACCES || error == EPERM)) {
        return absl::PermissionDeniedError(
            absl::StrCat(address.text,
                         ": this controller belongs to another user: use --state or --controller"));
      }
      if (error == ENOENT && first && !several) {
        return Nobody(asked);  // A restarting controller leaves its socket behind.
      }
      if (error == 0) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() +
                             (several ? kCallTimeoutOfSeveral : kCallTimeout));
        const bool large =
            address.kind != Address::Kind::kUnix && request.ByteSizeLong() > kFirstCallBytesMax;
        const grpc::Status greeted = large && !known ? Greet() : grpc::Status::OK;
        known = greeted.ok();
        const grpc::Status status =
            greeted.ok() ? (end.stub.get()->*method)(&context, request, reply) : greeted;
        if (status.ok()) {
          return absl::OkStatus();
        }
        busy = status.error_details() == kFromController;
        const bool stuck = several && !busy &&
                           status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
        if ((status.error_code() != grpc::StatusCode::UNAVAILABLE && !stuck) ||
            (busy && clock.SteadyNow() >= give_up)) {
          return Refusal(status);
        }
        RETURN_IF_ERROR(busy ? absl::OkStatus() : Mistrust(address, status.error_message()));
      }
      if (clock.SteadyNow() >= give_up) {
        return Nobody(asked);
      }
      std::this_thread::sleep_for(busy && !several ? kBusyPause : kRetryPause);
      if (error == 0 && !busy && !several) {
        known = false;
        Connect();
      }
    }
  }
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Address& address,
                                                             Patience patience) {
  if (address.text.find(',') == std::string::npos && address.kind == Address::Kind::kUnix &&
      address.path.size() > kSocketPathBytesMax) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.path, ": a socket's path has at most ", kSocketPathBytesMax,
                     " bytes, this one ", address.path.size(), ": use a shorter --state"));
  }
  auto channel = std::make_unique<Channel>();
  for (Address& each : AllOf(address)) {
    ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> to, OpenChannel(each));
    channel->ends.push_back({std::move(each), to, wire::Controller::NewStub(to)});
  }
  return std::unique_ptr<Connection>(new Connection(address, patience, std::move(channel)));
}

Connection::Connection(Address address, Patience patience, std::unique_ptr<Channel> channel)
    : address_(std::move(address)), patience_(patience), channel_(std::move(channel)) {}

Connection::~Connection() = default;

absl::StatusOr<ClusterStatus> Connection::Ping() {
  wire::PingReply reply;
  RETURN_IF_ERROR(
      channel_->Call(&Stub::Ping, wire::PingRequest(), &reply, address_, patience_.reading));
  return ClusterStatus{.cluster = reply.cluster(),
                       .version = reply.version(),
                       .epoch = reply.epoch(),
                       .nodes = reply.nodes(),
                       .nodes_connected = reply.nodes_connected(),
                       .jobs_pending = reply.jobs_pending(),
                       .jobs_running = reply.jobs_running()};
}

namespace {

wire::SubmitRequest SubmitMessage(const std::string& token, const JobSpec& spec,
                                  const Program& program,
                                  const std::vector<Component>& components) {
  wire::SubmitRequest request;
  request.set_token(token);
  ToWire(spec, request.mutable_spec());
  ToWire(program, request.mutable_program());
  for (const Component& component : components) {
    wire::Component* message = request.add_components();
    ToWire(component.spec, message->mutable_spec());
    ToWire(component.program, message->mutable_program());
  }
  return request;
}

}  // namespace

absl::StatusOr<JobId> Connection::Submit(const std::string& token, const JobSpec& spec,
                                         const Program& program,
                                         const std::vector<Component>& components) {
  const wire::SubmitRequest request = SubmitMessage(token, spec, program, components);
  wire::SubmitReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Submit, request, &reply, address_, patience_.changing));
  return JobId(reply.job());
}

absl::StatusOr<StartedStep> Connection::StartStep(const std::string& token, JobId job,
                                                  const StepSpec& spec, const Program& program) {
  wire::StartStepRequest request;
  request.set_token(token);
  request.set_job(job.value());
  ToWire(spec, request.mutable_spec());
  ToWire(program, request.mutable_program());
  wire::StartStepReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::StartStep, request, &reply, address_, patience_.changing));
  StartedStep started{.step = StepId(reply.step()), .placement = {}, .waits = reply.waits()};
  RETURN_IF_ERROR(FromWire(reply.placement(), &started.placement));
  return started;
}

absl::StatusOr<ChangeOutcome> Connection::Signal(const std::vector<JobSelector>& jobs,
                                                 std::optional<StepId> step, std::uint32_t signal,
                                                 SignalScope scope) {
  wire::SignalRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  if (step.has_value()) {
    request.set_step(step->value());
  }
  request.set_signal(signal);
  request.set_scope(static_cast<wire::SignalScope>(scope));
  wire::SignalReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Signal, request, &reply, address_, patience_.reading));
  return ChangeOutcome{.errors = {reply.errors().begin(), reply.errors().end()},
                       .changed = reply.signalled()};
}

absl::StatusOr<ShownStep> Connection::Attach(const JobSelector& job, std::optional<StepId> step,
                                             const StepIo& io, bool input) {
  wire::AttachRequest request;
  request.set_job(job.job.value());
  if (!job.elements.empty()) {
    request.set_array_index(job.elements.front());
  }
  if (step.has_value()) {
    request.set_step(step->value());
  }
  ToWire(io, request.mutable_io());
  request.set_input(input);
  wire::AttachReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Attach, request, &reply, address_, patience_.reading));
  ShownStep shown{.job = JobId(reply.job()), .step = StepId(reply.step()), .placement = {}};
  RETURN_IF_ERROR(FromWire(reply.placement(), &shown.placement));
  return shown;
}

absl::StatusOr<ChangeOutcome> Connection::Cancel(const std::vector<JobSelector>& jobs,
                                                 bool all_of_user) {
  wire::CancelRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_all_of_user(all_of_user);
  wire::CancelReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Cancel, request, &reply, address_, patience_.changing));
  return ChangeOutcome{.errors = {reply.errors().begin(), reply.errors().end()},
                       .changed = reply.cancelled()};
}

absl::StatusOr<ChangeOutcome> Connection::Hold(const std::vector<JobSelector>& jobs, bool held) {
  wire::HoldRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_held(held);
  wire::HoldReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Hold, request, &reply, address_, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Requeue(const std::vector<JobSelector>& jobs) {
  wire::RequeueRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  wire::RequeueReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Requeue, request, &reply, address_, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Suspend(const std::vector<JobSelector>& jobs,
                                                  bool suspended) {
  wire::SuspendRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_suspended(suspended);
  wire::SuspendReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Suspend, request, &reply, address_, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Update(const std::vector<JobSelector>& jobs,
                                                 const JobUpdate& changes, bool force) {
  wire::UpdateRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_force(force);
  ToWire(changes, request.mutable_changes());
  wire::UpdateReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Update, request, &reply, address_, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::Status Connection::Drain(const std::string& node, bool drained, const std::string& reason) {
  wire::DrainRequest request;
  request.set_node(node);
  request.set_drained(drained);
  request.set_reason(reason);
  wire::DrainReply reply;
  return channel_->Call(&Stub::Drain, request, &reply, address_, patience_.changing);
}

absl::Status Connection::ChangePolicy(PolicyVerb verb, PolicyKind kind, const std::string& name,
                                      const std::vector<Assignment>& assignments) {
  wire::ChangePolicyRequest request;
  request.set_verb(static_cast<wire::PolicyVerb>(verb));
  request.set_kind(static_cast<wire::PolicyKind>(kind));
  request.set_name(name);
  for (const Assignment& assignment : assignments) {
    ToWire(assignment, request.add_assignments());
  }
  wire::ChangePolicyReply reply;
  return channel_->Call(&Stub::ChangePolicy, request, &reply, address_, patience_.changing);
}

absl::StatusOr<std::vector<PolicyView>> Connection::ListPolicy(
    const std::vector<PolicyKind>& kinds) {
  wire::ListPolicyRequest request;
  for (const PolicyKind kind : kinds) {
    request.add_kinds(static_cast<wire::PolicyKind>(kind));
  }
  wire::ListPolicyReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListPolicy, request, &reply, address_, patience_.reading));
  return ReadAll<PolicyView>(reply.objects());
}

absl::StatusOr<std::vector<PolicyChangeView>> Connection::PolicyHistory(
    const std::vector<PolicyKind>& kinds, const std::string& name, std::uint32_t limit) {
  wire::PolicyHistoryRequest request;
  for (const PolicyKind kind : kinds) {
    request.add_kinds(static_cast<wire::PolicyKind>(kind));
  }
  request.set_name(name);
  request.set_limit(limit);
  wire::PolicyHistoryReply reply;
  RETURN_IF_ERROR(
      channel_->Call(&Stub::PolicyHistory, request, &reply, address_, patience_.reading));
  return ReadAll<PolicyChangeView>(reply.changes());
}

absl::StatusOr<std::vector<JobView>> Connection::ListJobs(const JobFilter& filter) {
  wire::ListJobsRequest request;
  request.mutable_states()->Add(filter.states.begin(), filter.states.end());
  request.set_user(filter.user);
  for (const JobId job : filter.jobs) {
    request.add_jobs(job.value());
  }
  request.set_fold(filter.fold);
  wire::ListJobsReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListJobs, request, &reply, address_, patience_.reading));
  return ReadAll<JobView>(reply.jobs());
}

absl::StatusOr<std::vector<JobView>> Connection::ListHistory(const HistoryQuery& filter) {
  wire::ListHistoryRequest request;
  request.mutable_states()->Add(filter.jobs.states.begin(), filter.jobs.states.end());
  request.set_user(filter.jobs.user);
  for (const JobId job : filter.jobs.jobs) {
    request.add_jobs(job.value());
  }
  request.set_since(filter.since.time_since_epoch().count());
  request.set_limit(filter.limit);
  wire::ListJobsReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListHistory, request, &reply, address_, patience_.reading));
  return ReadAll<JobView>(reply.jobs());
}

absl::StatusOr<std::vector<JobDetail>> Connection::ShowJob(const JobSelector& job) {
  wire::ShowJobRequest request;
  request.mutable_job()->set_job(NamedId(job).value());
  request.mutable_job()->mutable_elements()->Add(job.elements.begin(), job.elements.end());
  wire::ShowJobReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ShowJob, request, &reply, address_, patience_.reading));
  return ReadAll<JobDetail>(reply.jobs());
}

absl::StatusOr<JobExplanation> Connection::Explain(const JobSelector& job) {
  wire::ExplainRequest request;
  request.mutable_job()->set_job(NamedId(job).value());
  request.mutable_job()->mutable_elements()->Add(job.elements.begin(), job.elements.end());
  wire::ExplainReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::Explain, request, &reply, address_, patience_.reading));
  JobExplanation explanation;
  absl::Status status = FromWire(reply.job(), &explanation.job);
  status.Update(FromWire(reply.priority(), &explanation.priority));
  status.Update(FromWire(reply.allocation(), &explanation.allocation));
  status.Update(FromWire(reply.placement(), &explanation.placement));
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("bad reply: ", std::string(status.message()), ": update muster"));
  }
  explanation.summary = reply.summary();
  for (const wire::NodeAnswer& answer : reply.nodes()) {
    explanation.nodes.push_back(
        {.node = answer.node(), .fits = answer.fits(), .text = answer.text()});
  }
  for (const wire::Suggestion& suggestion : reply.suggestions()) {
    explanation.suggestions.push_back(
        {.change = suggestion.change(), .start = Time(Duration(suggestion.start()))});
  }
  return explanation;
}

absl::StatusOr<StartForecast> Connection::TestSubmit(const std::string& token, const JobSpec& spec,
                                                     const Program& program,
                                                     const std::vector<Component>& components) {
  const wire::SubmitRequest request = SubmitMessage(token, spec, program, components);
  wire::TestSubmitReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::TestSubmit, request, &reply, address_, patience_.reading));
  StartForecast forecast;
  forecast.start = Time(Duration(reply.start()));
  forecast.nodes.assign(reply.nodes().begin(), reply.nodes().end());
  forecast.reason = reply.reason();
  forecast.never = reply.never();
  return forecast;
}

absl::StatusOr<Shares> Connection::ListShares(const std::string& explain_user) {
  wire::ListSharesRequest request;
  request.set_explain_user(explain_user);
  wire::ListSharesReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListShares, request, &reply, address_, patience_.reading));
  Shares shares;
  ASSIGN_OR_RETURN(shares.tree.accounts, ReadAll<Account>(reply.accounts()));
  ASSIGN_OR_RETURN(shares.tree.associations, ReadAll<Association>(reply.associations()));
  shares.now = Time(Duration(reply.now()));
  shares.half_life = Duration(reply.half_life());
  shares.rule.fairshare =
      reply.algorithm() == "classic" ? FairshareRule::kClassic : FairshareRule::kFairTree;
  shares.rule.damping = reply.damping();
  for (const wire::UserRuns& runs : reply.runs()) {
    ASSIGN_OR_RETURN(shares.runs[runs.account()], ReadAll<ChargedRun>(runs.runs()));
  }
  return shares;
}

absl::StatusOr<NodeList> Connection::ListNodes(const std::vector<std::string>& names,
                                               bool with_machine) {
  wire::ListNodesRequest request;
  request.mutable_names()->Add(names.begin(), names.end());
  request.set_with_machine(with_machine);
  wire::ListNodesReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListNodes, request, &reply, address_, patience_.reading));
  NodeList list;
  ASSIGN_OR_RETURN(list.nodes, ReadAll<NodeView>(reply.nodes()));
  ASSIGN_OR_RETURN(list.largest, ReadAll<LargestGpuJob>(reply.largest()));
  return list;
}

absl::Status Connection::PutTuning(const Tuning& tuning) {
  wire::PutTuningRequest request;
  ToWire(tuning, request.mutable_tuning());
  wire::PutTuningReply reply;
  return channel_->Call(&Stub::PutTuning, request, &reply, address_, patience_.reading);
}

absl::StatusOr<std::vector<Tuning>> Connection::ListTunings(const std::string& kernel) {
  wire::ListTuningsRequest request;
  request.set_kernel(kernel);
  wire::ListTuningsReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListTunings, request, &reply, address_, patience_.reading));
  return ReadAll<Tuning>(reply.tunings());
}

absl::StatusOr<std::uint64_t> Connection::CheckHealth(const std::string& node, HealthKind kind,
                                                      bool wait) {
  wire::CheckHealthRequest request;
  request.set_node(node);
  request.set_kind(kind == HealthKind::kBurnIn ? wire::HEALTH_KIND_BURN_IN
                                               : wire::HEALTH_KIND_QUICK);
  request.set_wait(wait);
  wire::CheckHealthReply reply;
  RETURN_IF_ERROR(
      channel_->Call(&Stub::CheckHealth, request, &reply, address_, patience_.changing));
  return reply.number();
}

absl::StatusOr<std::vector<HealthView>> Connection::ListHealth(
    const std::vector<std::string>& names, std::uint32_t history) {
  wire::ListHealthRequest request;
  request.mutable_names()->Add(names.begin(), names.end());
  request.set_history(history);
  wire::ListHealthReply reply;
  RETURN_IF_ERROR(channel_->Call(&Stub::ListHealth, request, &reply, address_, patience_.reading));
  return ReadAll<HealthView>(reply.nodes());
}

absl::Status Connection::WatchJob(JobId job, const std::function<bool(const JobNews&)>& tell) {
  grpc::ClientContext context;  // No deadline: a job may wait for days; keepalive finds the dead.
  {
    const std::lock_guard<std::mutex> lock(channel_->mutex);
    if (channel_->stopped) {
      return absl::OkStatus();
    }
    channel_->watching.insert(&context);
  }
  channel_->Seek();
  const Channel::End& end = channel_->Here();
  if (end.address.kind == Address::Kind::kTcp || ProbeSocket(end.address.path) == 0) {
    channel_->Connect();
  }
  wire::WatchJobRequest request;
  request.set_job(job.value());
  const auto reader = end.stub->WatchJob(&context, request);
  wire::WatchJobReply reply;
  bool enough = false;
  absl::Status bad = absl::OkStatus();
  while (!enough && bad.ok() && reader->Read(&reply)) {
    JobNews news;
    bad = FromWire(reply.job(), &news.job);
    bad.Update(FromWire(reply.allocation(), &news.allocation));
    enough = bad.ok() && !tell(news);
  }
  if (enough || !bad.ok()) {
    context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  const std::lock_guard<std::mutex> lock(channel_->mutex);
  channel_->watching.erase(&context);
  if (!bad.ok()) {
    return absl::InternalError(absl::StrCat("bad reply: ", std::string(bad.message())));
  }
  if (enough || channel_->stopped || status.ok()) {
    return absl::OkStatus();
  }
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ? Nobody(address_) : Refusal(status);
}

void Connection::StopWatching() {
  const std::lock_guard<std::mutex> lock(channel_->mutex);
  channel_->stopped = true;
  for (grpc::ClientContext* context : channel_->watching) {
    context->TryCancel();
  }
  channel_->stops.notify_all();
}

bool Connection::StopsWatchingWithin(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(channel_->mutex);
  return channel_->stops.wait_for(lock, time, [this] { return channel_->stopped; });
}

void QuietGrpc() {
  // What the user set stays.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 0);  // NOLINT(concurrency-mt-unsafe): before threads.
  setenv("GRPC_DNS_RESOLVER", "native", 0);    // NOLINT(concurrency-mt-unsafe): before threads.
  setenv("GRPC_VERBOSITY", "NONE", 0);         // NOLINT(concurrency-mt-unsafe): before threads.
}

}  // namespace muster::cli
