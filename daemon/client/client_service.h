#pragma once

// The service for clients: admits each call and hands it to the handler of its subject.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from one background thread. Invariants: every method first asks
// the access table.

#include <map>
#include <string>

#include "daemon/access/call.h"
#include "daemon/access/gate.h"
#include "daemon/access/read_queue.h"
#include "daemon/agents/live_usage.h"
#include "daemon/client/events/event_handler.h"
#include "daemon/client/health_handler.h"
#include "daemon/client/job_handler.h"
#include "daemon/client/job_reader.h"
#include "daemon/client/node_handler.h"
#include "daemon/client/outside/metrics_handler.h"
#include "daemon/client/outside/page_handler.h"
#include "daemon/client/outside/token_handler.h"
#include "daemon/client/policy_handler.h"
#include "daemon/client/step_handler.h"
#include "daemon/client/stream_handler.h"
#include "daemon/client/tuning_handler.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.grpc.pb.h"

namespace muster::daemon {

class ClientService final : public wire::Controller::CallbackService {
 public:
  // Everything that is referred to outlives the service. `tokens` may be null.
  ClientService(Controller& controller, Accounting& accounting, JobStore& store,
                std::string cluster, const Gate& gate, const LiveUsage& usage,
                TokenBook* tokens = nullptr);

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;
  Unary* Ping(Context* context, const wire::PingRequest* request, wire::PingReply* reply) override;
  Unary* Submit(Context* context, const wire::SubmitRequest* request,
                wire::SubmitReply* reply) override;
  Unary* Cancel(Context* context, const wire::CancelRequest* request,
                wire::CancelReply* reply) override;
  Unary* Hold(Context* context, const wire::HoldRequest* request, wire::HoldReply* reply) override;
  Unary* Suspend(Context* context, const wire::SuspendRequest* request,
                 wire::SuspendReply* reply) override;
  Unary* Requeue(Context* context, const wire::RequeueRequest* request,
                 wire::RequeueReply* reply) override;
  Unary* Update(Context* context, const wire::UpdateRequest* request,
                wire::UpdateReply* reply) override;
  Unary* Signal(Context* context, const wire::SignalRequest* request,
                wire::SignalReply* reply) override;
  Unary* StartStep(Context* context, const wire::StartStepRequest* request,
                   wire::StartStepReply* reply) override;
  Unary* Attach(Context* context, const wire::AttachRequest* request,
                wire::AttachReply* reply) override;
  Unary* ListJobs(Context* context, const wire::ListJobsRequest* request,
                  wire::ListJobsReply* reply) override;
  Unary* ListHistory(Context* context, const wire::ListHistoryRequest* request,
                     wire::ListJobsReply* reply) override;
  Unary* ShowJob(Context* context, const wire::ShowJobRequest* request,
                 wire::ShowJobReply* reply) override;
  Unary* Explain(Context* context, const wire::ExplainRequest* request,
                 wire::ExplainReply* reply) override;
  Unary* TestSubmit(Context* context, const wire::SubmitRequest* request,
                    wire::TestSubmitReply* reply) override;
  Unary* ListNodes(Context* context, const wire::ListNodesRequest* request,
                   wire::ListNodesReply* reply) override;
  Unary* Drain(Context* context, const wire::DrainRequest* request,
               wire::DrainReply* reply) override;
  Unary* PutTuning(Context* context, const wire::PutTuningRequest* request,
                   wire::PutTuningReply* reply) override;
  Unary* ListTunings(Context* context, const wire::ListTuningsRequest* request,
                     wire::ListTuningsReply* reply) override;
  Unary* CheckHealth(Context* context, const wire::CheckHealthRequest* request,
                     wire::CheckHealthReply* reply) override;
  Unary* ListHealth(Context* context, const wire::ListHealthRequest* request,
                    wire::ListHealthReply* reply) override;
  Unary* ChangePolicy(Context* context, const wire::ChangePolicyRequest* request,
                      wire::ChangePolicyReply* reply) override;
  Unary* ListPolicy(Context* context, const wire::ListPolicyRequest* request,
                    wire::ListPolicyReply* reply) override;
  Unary* PolicyHistory(Context* context, const wire::PolicyHistoryRequest* request,
                       wire::PolicyHistoryReply* reply) override;
  Unary* ListShares(Context* context, const wire::ListSharesRequest* request,
                    wire::ListSharesReply* reply) override;
  Unary* ReadMetrics(Context* context, const wire::ReadMetricsRequest* request,
                     wire::ReadMetricsReply* reply) override;
  Unary* ShowCurve(Context* context, const wire::ShowCurveRequest* request,
                   wire::ShowCurveReply* reply) override;
  Unary* ShowPlan(Context* context, const wire::ShowPlanRequest* request,
                  wire::ShowPlanReply* reply) override;
  Unary* CreateToken(Context* context, const wire::CreateTokenRequest* request,
                     wire::CreateTokenReply* reply) override;
  Unary* ListTokens(Context* context, const wire::ListTokensRequest* request,
                    wire::ListTokensReply* reply) override;
  Unary* RevokeToken(Context* context, const wire::RevokeTokenRequest* request,
                     wire::RevokeTokenReply* reply) override;
  StreamHandler::Submissions* SubmitMany(Context* context) override;
  StreamHandler::Views* WatchJob(Context* context, const wire::WatchJobRequest* request) override;
  EventHandler::Reactor* WatchEvents(Context* context,
                                     const wire::WatchEventsRequest* request) override;

 private:
  // Who calls, when the table lets them.
  [[nodiscard]] absl::StatusOr<Caller> Admit(const Context& context, const char* method) const;
  // The reactor of the call, which `serve` answers; already finished when the table refuses.
  template <class Handler, class Request, class Reply>
  Unary* Route(Context* context, const char* method, const Request& request, Reply* reply,
               Handler& handler, void (Handler::*serve)(const Call&, const Request&, Reply*));
  // The same for what may take long: it begins when it is its user's turn.
  template <class Handler, class Request, class Reply>
  Unary* RouteRead(Context* context, const char* method, const Request& request, Reply* reply,
                   Handler& handler, void (Handler::*serve)(const Call&, const Request&, Reply*));

  Timings& TimingsOf(const char* method) { return timings_.at(method); }

  const Gate& gate_;
  std::map<std::string, Timings> timings_;  // of every method, and no other is ever added
  ReadQueue turns_;
  JobHandler jobs_;
  StepHandler steps_;
  JobReader job_reader_;
  NodeHandler nodes_;
  HealthHandler health_;
  PolicyHandler policy_;
  TuningHandler tunings_;
  MetricsHandler metrics_;
  TokenHandler tokens_;
  PageHandler page_;
  StreamHandler streams_;
  EventHandler events_;
  Worker reader_;  // the last: its work ends before those that gave it
};

}  // namespace muster::daemon
