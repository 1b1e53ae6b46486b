#include "daemon/client/client_service.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::daemon {

using Unary = ClientService::Unary;

namespace {

std::map<std::string, Timings> TimingsOfMethods() {
  std::map<std::string, Timings> timings;
  const auto& service = *wire::PingRequest::descriptor()->file()->FindServiceByName("Controller");
  for (int i = 0; i < service.method_count(); ++i) {
    timings.try_emplace(service.method(i)->name(), kWorkBounds);
  }
  return timings;
}

}  // namespace

ClientService::ClientService(Controller& controller, Accounting& accounting, JobStore& store,
                             std::string cluster, const Gate& gate, const LiveUsage& usage,
                             TokenBook* tokens)
    : gate_(gate),
      timings_(TimingsOfMethods()),
      jobs_(controller, accounting, reader_),
      steps_(controller),
      job_reader_(controller, accounting, store, usage, reader_),
      nodes_(controller, cluster, reader_),
      health_(controller, store, reader_),
      policy_(controller, accounting, store, reader_),
      tunings_(controller, store, reader_),
      metrics_(controller, cluster, timings_, reader_),
      tokens_(tokens, reader_),
      page_(controller, usage),
      streams_(controller, accounting, reader_, gate),
      events_(controller, store, accounting, reader_, gate) {}

absl::StatusOr<Caller> ClientService::Admit(const Context& context, const char* method) const {
  return gate_.Admit(context, absl::StrCat("/muster.wire.Controller/", method));
}

template <class Handler, class Request, class Reply>
Unary* ClientService::Route(Context* context, const char* method, const Request& request,
                            Reply* reply, Handler& handler,
                            void (Handler::*serve)(const Call&, const Request&, Reply*)) {
  auto* const reactor = new CallReactor(TimingsOf(method));
  absl::StatusOr<Caller> caller = Admit(*context, method);
  if (caller.ok()) {
    (handler.*serve)(Call{gate_, *std::move(caller), method, reactor}, request, reply);
  } else {
    reactor->Finish(ToGrpc(caller.status()));
  }
  return reactor;
}

template <class Handler, class Request, class Reply>
Unary* ClientService::RouteRead(Context* context, const char* method, const Request& request,
                                Reply* reply, Handler& handler,
                                void (Handler::*serve)(const Call&, const Request&, Reply*)) {
  absl::StatusOr<Caller> caller = Admit(*context, method);
  if (!caller.ok()) {
    Unary* const refused = context->DefaultReactor();
    refused->Finish(ToGrpc(caller.status()));
    return refused;
  }
  auto* const reactor = new CallReactor(TimingsOf(method));
  const std::uint32_t uid = caller->user.uid;
  const Call call{gate_, *std::move(caller), method, reactor};
  const bool taken =
      turns_.Take(uid, [reactor, call, &handler, serve, &request, reply](ReadQueue::Turn turn) {
        reactor->Hold(std::move(turn));
        (handler.*serve)(call, request, reply);
      });
  if (!taken) {
    call.Finish(absl::UnavailableError(
        absl::StrCat(call.caller.user.name, " has too many questions open; try again")));
  }
  return reactor;
}

Unary* ClientService::Ping(Context* context, const wire::PingRequest* request,
                           wire::PingReply* reply) {
  return Route(context, "Ping", *request, reply, nodes_, &NodeHandler::Ping);
}

Unary* ClientService::Submit(Context* context, const wire::SubmitRequest* request,
                             wire::SubmitReply* reply) {
  return Route(context, "Submit", *request, reply, jobs_, &JobHandler::Submit);
}

Unary* ClientService::Cancel(Context* context, const wire::CancelRequest* request,
                             wire::CancelReply* reply) {
  return Route(context, "Cancel", *request, reply, jobs_, &JobHandler::Cancel);
}

Unary* ClientService::Hold(Context* context, const wire::HoldRequest* request,
                           wire::HoldReply* reply) {
  return Route(context, "Hold", *request, reply, jobs_, &JobHandler::Hold);
}

Unary* ClientService::Suspend(Context* context, const wire::SuspendRequest* request,
                              wire::SuspendReply* reply) {
  return Route(context, "Suspend", *request, reply, jobs_, &JobHandler::Suspend);
}

Unary* ClientService::Requeue(Context* context, const wire::RequeueRequest* request,
                              wire::RequeueReply* reply) {
  return Route(context, "Requeue", *request, reply, jobs_, &JobHandler::Requeue);
}

Unary* ClientService::Update(Context* context, const wire::UpdateRequest* request,
                             wire::UpdateReply* reply) {
  return Route(context, "Update", *request, reply, jobs_, &JobHandler::Update);
}

Unary* ClientService::Signal(Context* context, const wire::SignalRequest* request,
                             wire::SignalReply* reply) {
  return Route(context, "Signal", *request, reply, jobs_, &JobHandler::Signal);
}

Unary* ClientService::StartStep(Context* context, const wire::StartStepRequest* request,
                                wire::StartStepReply* reply) {
  return Route(context, "StartStep", *request, reply, steps_, &StepHandler::StartStep);
}

Unary* ClientService::Attach(Context* context, const wire::AttachRequest* request,
                             wire::AttachReply* reply) {
  return Route(context, "Attach", *request, reply, steps_, &StepHandler::Attach);
}

Unary* ClientService::ListJobs(Context* context, const wire::ListJobsRequest* request,
                               wire::ListJobsReply* reply) {
  return RouteRead(context, "ListJobs", *request, reply, job_reader_, &JobReader::ListJobs);
}

Unary* ClientService::ListHistory(Context* context, const wire::ListHistoryRequest* request,
                                  wire::ListJobsReply* reply) {
  return RouteRead(context, "ListHistory", *request, reply, job_reader_, &JobReader::ListHistory);
}

Unary* ClientService::ShowJob(Context* context, const wire::ShowJobRequest* request,
                              wire::ShowJobReply* reply) {
  return RouteRead(context, "ShowJob", *request, reply, job_reader_, &JobReader::ShowJob);
}

Unary* ClientService::Explain(Context* context, const wire::ExplainRequest* request,
                              wire::ExplainReply* reply) {
  return RouteRead(context, "Explain", *request, reply, job_reader_, &JobReader::Explain);
}

Unary* ClientService::TestSubmit(Context* context, const wire::SubmitRequest* request,
                                 wire::TestSubmitReply* reply) {
  return RouteRead(context, "TestSubmit", *request, reply, job_reader_, &JobReader::TestSubmit);
}

Unary* ClientService::ListNodes(Context* context, const wire::ListNodesRequest* request,
                                wire::ListNodesReply* reply) {
  return RouteRead(context, "ListNodes", *request, reply, nodes_, &NodeHandler::ListNodes);
}

Unary* ClientService::Drain(Context* context, const wire::DrainRequest* request,
                            wire::DrainReply* reply) {
  return Route(context, "Drain", *request, reply, nodes_, &NodeHandler::Drain);
}

Unary* ClientService::PutTuning(Context* context, const wire::PutTuningRequest* request,
                                wire::PutTuningReply* reply) {
  return Route(context, "PutTuning", *request, reply, tunings_, &TuningHandler::PutTuning);
}

Unary* ClientService::ListTunings(Context* context, const wire::ListTuningsRequest* request,
                                  wire::ListTuningsReply* reply) {
  return Route(context, "ListTunings", *request, reply, tunings_, &TuningHandler::ListTunings);
}

Unary* ClientService::CheckHealth(Context* context, const wire::CheckHealthRequest* request,
                                  wire::CheckHealthReply* reply) {
  return Route(context, "CheckHealth", *request, reply, health_, &HealthHandler::CheckHealth);
}

Unary* ClientService::ListHealth(Context* context, const wire::ListHealthRequest* request,
                                 wire::ListHealthReply* reply) {
  return RouteRead(context, "ListHealth", *request, reply, health_, &HealthHandler::ListHealth);
}

Unary* ClientService::ChangePolicy(Context* context, const wire::ChangePolicyRequest* request,
                                   wire::ChangePolicyReply* reply) {
  return Route(context, "ChangePolicy", *request, reply, policy_, &PolicyHandler::ChangePolicy);
}

Unary* ClientService::ListPolicy(Context* context, const wire::ListPolicyRequest* request,
                                 wire::ListPolicyReply* reply) {
  return Route(context, "ListPolicy", *request, reply, policy_, &PolicyHandler::ListPolicy);
}

Unary* ClientService::PolicyHistory(Context* context, const wire::PolicyHistoryRequest* request,
                                    wire::PolicyHistoryReply* reply) {
  return RouteRead(context, "PolicyHistory", *request, reply, policy_,
                   &PolicyHandler::PolicyHistory);
}

Unary* ClientService::ListShares(Context* context, const wire::ListSharesRequest* request,
                                 wire::ListSharesReply* reply) {
  return RouteRead(context, "ListShares", *request, reply, policy_, &PolicyHandler::ListShares);
}

Unary* ClientService::ReadMetrics(Context* context, const wire::ReadMetricsRequest* request,
                                  wire::ReadMetricsReply* reply) {
  return RouteRead(context, "ReadMetrics", *request, reply, metrics_, &MetricsHandler::ReadMetrics);
}

Unary* ClientService::ShowCurve(Context* context, const wire::ShowCurveRequest* request,
                                wire::ShowCurveReply* reply) {
  return Route(context, "ShowCurve", *request, reply, page_, &PageHandler::ShowCurve);
}

Unary* ClientService::ShowPlan(Context* context, const wire::ShowPlanRequest* request,
                               wire::ShowPlanReply* reply) {
  return Route(context, "ShowPlan", *request, reply, page_, &PageHandler::ShowPlan);
}

Unary* ClientService::CreateToken(Context* context, const wire::CreateTokenRequest* request,
                                  wire::CreateTokenReply* reply) {
  return Route(context, "CreateToken", *request, reply, tokens_, &TokenHandler::CreateToken);
}

Unary* ClientService::ListTokens(Context* context, const wire::ListTokensRequest* request,
                                 wire::ListTokensReply* reply) {
  return Route(context, "ListTokens", *request, reply, tokens_, &TokenHandler::ListTokens);
}

Unary* ClientService::RevokeToken(Context* context, const wire::RevokeTokenRequest* request,
                                  wire::RevokeTokenReply* reply) {
  return Route(context, "RevokeToken", *request, reply, tokens_, &TokenHandler::RevokeToken);
}

StreamHandler::Submissions* ClientService::SubmitMany(Context* context) {
  return streams_.SubmitMany(Admit(*context, "SubmitMany"));
}

StreamHandler::Views* ClientService::WatchJob(Context* context,
                                              const wire::WatchJobRequest* request) {
  return streams_.WatchJob(Admit(*context, "WatchJob"), JobId(request->job()));
}

EventHandler::Reactor* ClientService::WatchEvents(Context* context,
                                                  const wire::WatchEventsRequest* request) {
  return events_.WatchEvents(*context, Admit(*context, "WatchEvents"), *request);
}

}  // namespace muster::daemon
