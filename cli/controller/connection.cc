#include "cli/controller/connection.h"

#include <grpcpp/grpcpp.h>
#include <sys/un.h>

#include <condition_variable>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/controller/call_channel.h"
#include "cli/controller/channel.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/bytes.h"
#include "proto/convert/convert.h"
#include "proto/convert/wire_format.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

using Stub = wire::Controller::Stub;

constexpr std::size_t kSocketPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

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

// The jobs of a list's reply: of 10,000 no message is made.
absl::StatusOr<std::vector<JobView>> ReadJobs(const absl::StatusOr<std::string>& reply) {
  RETURN_IF_ERROR(reply.status());
  std::uint32_t number = 0;
  convert::WireType type{};
  std::string_view bytes;
  std::size_t count = 0;
  for (convert::Cursor cursor(*reply); cursor.Tag(&number, &type) && cursor.Skip(type);) {
    ++count;
  }
  std::vector<JobView> jobs;
  jobs.reserve(count);
  absl::Status status;
  for (convert::Cursor cursor(*reply); !cursor.AtEnd() && status.ok();) {
    if (!cursor.Tag(&number, &type) || number != wire::ListJobsReply::kJobsFieldNumber ||
        type != convert::WireType::kBytes || !cursor.Bytes(&bytes)) {
      status = absl::InternalError("a list of other things");
    } else {
      status = ReadWire(bytes, &jobs.emplace_back());
    }
  }
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("bad reply: ", std::string(status.message()), ": update muster"));
  }
  return jobs;
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
  explicit Channel(const Address& address) : calls(address) {}

  CallChannel calls;
  std::mutex mutex;                         // guards what is below
  std::set<grpc::ClientContext*> watching;  // the streams that are being waited for
  bool stopped = false;
  std::condition_variable stops;
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Address& address,
                                                             Patience patience) {
  if (address.kind == Address::Kind::kUnix && address.path.size() > kSocketPathBytesMax) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.path, ": a socket's path has at most ", kSocketPathBytesMax,
                     " bytes, this one ", address.path.size(), ": use a shorter --state"));
  }
  auto channel = std::make_unique<Channel>(address);
  if (address.kind != Address::Kind::kUnix) {
    RETURN_IF_ERROR(channel->calls.OpenGrpc().status());
  }
  return std::unique_ptr<Connection>(new Connection(address, patience, std::move(channel)));
}

Connection::Connection(Address address, Patience patience, std::unique_ptr<Channel> channel)
    : address_(std::move(address)), patience_(patience), channel_(std::move(channel)) {}

Connection::~Connection() = default;

absl::StatusOr<ClusterStatus> Connection::Ping() {
  wire::PingReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("Ping", &Stub::Ping, wire::PingRequest(), &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("Submit", &Stub::Submit, request, &reply, patience_.changing));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("StartStep", &Stub::StartStep, request, &reply, patience_.changing));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("Signal", &Stub::Signal, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("Attach", &Stub::Attach, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("Cancel", &Stub::Cancel, request, &reply, patience_.changing));
  return ChangeOutcome{.errors = {reply.errors().begin(), reply.errors().end()},
                       .changed = reply.cancelled()};
}

absl::StatusOr<ChangeOutcome> Connection::Hold(const std::vector<JobSelector>& jobs, bool held) {
  wire::HoldRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_held(held);
  wire::HoldReply reply;
  RETURN_IF_ERROR(channel_->calls.Call("Hold", &Stub::Hold, request, &reply, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Requeue(const std::vector<JobSelector>& jobs) {
  wire::RequeueRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  wire::RequeueReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("Requeue", &Stub::Requeue, request, &reply, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Suspend(const std::vector<JobSelector>& jobs,
                                                  bool suspended) {
  wire::SuspendRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_suspended(suspended);
  wire::SuspendReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("Suspend", &Stub::Suspend, request, &reply, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::StatusOr<ChangeOutcome> Connection::Update(const std::vector<JobSelector>& jobs,
                                                 const JobUpdate& changes, bool force) {
  wire::UpdateRequest request;
  WriteSelectors(jobs, request.mutable_jobs());
  request.set_force(force);
  ToWire(changes, request.mutable_changes());
  wire::UpdateReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("Update", &Stub::Update, request, &reply, patience_.changing));
  return OutcomeOf(jobs, reply);
}

absl::Status Connection::Drain(const std::string& node, bool drained, const std::string& reason) {
  wire::DrainRequest request;
  request.set_node(node);
  request.set_drained(drained);
  request.set_reason(reason);
  wire::DrainReply reply;
  return channel_->calls.Call("Drain", &Stub::Drain, request, &reply, patience_.changing);
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
  return channel_->calls.Call("ChangePolicy", &Stub::ChangePolicy, request, &reply,
                              patience_.changing);
}

absl::StatusOr<std::vector<PolicyView>> Connection::ListPolicy(
    const std::vector<PolicyKind>& kinds) {
  wire::ListPolicyRequest request;
  for (const PolicyKind kind : kinds) {
    request.add_kinds(static_cast<wire::PolicyKind>(kind));
  }
  wire::ListPolicyReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("ListPolicy", &Stub::ListPolicy, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(channel_->calls.Call("PolicyHistory", &Stub::PolicyHistory, request, &reply,
                                       patience_.reading));
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
  return ReadJobs(
      channel_->calls.CallForBytes("ListJobs", &Stub::ListJobs, request, patience_.reading));
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
  return ReadJobs(
      channel_->calls.CallForBytes("ListHistory", &Stub::ListHistory, request, patience_.reading));
}

absl::StatusOr<std::vector<JobDetail>> Connection::ShowJob(const JobSelector& job) {
  wire::ShowJobRequest request;
  request.mutable_job()->set_job(NamedId(job).value());
  request.mutable_job()->mutable_elements()->Add(job.elements.begin(), job.elements.end());
  wire::ShowJobReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("ShowJob", &Stub::ShowJob, request, &reply, patience_.reading));
  return ReadAll<JobDetail>(reply.jobs());
}

absl::StatusOr<JobExplanation> Connection::Explain(const JobSelector& job) {
  wire::ExplainRequest request;
  request.mutable_job()->set_job(NamedId(job).value());
  request.mutable_job()->mutable_elements()->Add(job.elements.begin(), job.elements.end());
  wire::ExplainReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("Explain", &Stub::Explain, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("TestSubmit", &Stub::TestSubmit, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("ListShares", &Stub::ListShares, request, &reply, patience_.reading));
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
  RETURN_IF_ERROR(
      channel_->calls.Call("ListNodes", &Stub::ListNodes, request, &reply, patience_.reading));
  NodeList list;
  ASSIGN_OR_RETURN(list.nodes, ReadAll<NodeView>(reply.nodes()));
  ASSIGN_OR_RETURN(list.largest, ReadAll<LargestGpuJob>(reply.largest()));
  return list;
}

absl::Status Connection::PutTuning(const Tuning& tuning) {
  wire::PutTuningRequest request;
  ToWire(tuning, request.mutable_tuning());
  wire::PutTuningReply reply;
  return channel_->calls.Call("PutTuning", &Stub::PutTuning, request, &reply, patience_.reading);
}

absl::StatusOr<std::vector<Tuning>> Connection::ListTunings(const std::string& kernel) {
  wire::ListTuningsRequest request;
  request.set_kernel(kernel);
  wire::ListTuningsReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("ListTunings", &Stub::ListTunings, request, &reply, patience_.reading));
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
      channel_->calls.Call("CheckHealth", &Stub::CheckHealth, request, &reply, patience_.changing));
  return reply.number();
}

absl::StatusOr<std::vector<HealthView>> Connection::ListHealth(
    const std::vector<std::string>& names, std::uint32_t history) {
  wire::ListHealthRequest request;
  request.mutable_names()->Add(names.begin(), names.end());
  request.set_history(history);
  wire::ListHealthReply reply;
  RETURN_IF_ERROR(
      channel_->calls.Call("ListHealth", &Stub::ListHealth, request, &reply, patience_.reading));
  return ReadAll<HealthView>(reply.nodes());
}

absl::Status Connection::WatchJob(JobId job, const std::function<bool(const JobNews&)>& tell) {
  ASSIGN_OR_RETURN(Stub* const stub, channel_->calls.OpenGrpc());
  grpc::ClientContext context;  // No deadline: a job may wait for days; keepalive finds the dead.
  {
    const std::lock_guard<std::mutex> lock(channel_->mutex);
    if (channel_->stopped) {
      return absl::OkStatus();
    }
    channel_->watching.insert(&context);
  }
  if (channel_->calls.MayConnect()) {
    channel_->calls.Connect();
  }
  wire::WatchJobRequest request;
  request.set_job(job.value());
  const auto reader = stub->WatchJob(&context, request);
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
