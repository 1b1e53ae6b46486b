// The methods about steps of running jobs.
#include <utility>

#include "daemon/client/client_service.h"
#include "proto/convert/convert.h"

namespace muster {

ClientService::Unary* ClientService::StartStep(Context* context,
                                               const wire::StartStepRequest* request,
                                               wire::StartStepReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "StartStep", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  muster::StartStep input;
  input.token = request->token();
  input.job = JobId(request->job());
  input.by = caller->user;
  absl::Status status = FromWire(request->spec(), &input.spec);
  status.Update(FromWire(request->program(), &input.program));
  if (!status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  controller_.Take(std::move(input), [&gate = gate_, caller = *caller, reactor, reply](
                                         const Turn& turn, const absl::Status& done) {
    gate.Note(caller, "StartStep", done);
    reply->set_step(turn.step.value());
    reply->set_waits(turn.waits);
    ToWire(turn.placement, reply->mutable_placement());
    reactor->Finish(ToGrpc(done));
  });
  return reactor;
}

ClientService::Unary* ClientService::Attach(Context* context, const wire::AttachRequest* request,
                                            wire::AttachReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Attach", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  AttachStep input;
  input.job = JobId(request->job());
  input.by = caller->user;
  input.input = request->input();
  if (request->has_array_index()) {
    input.array_index = request->array_index();
  }
  if (request->has_step()) {
    input.step = StepId(request->step());
  }
  if (const absl::Status status = FromWire(request->io(), &input.io); !status.ok()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  controller_.Take(std::move(input), [&gate = gate_, caller = *caller, reactor, reply](
                                         const Turn& turn, const absl::Status& done) {
    gate.Note(caller, "Attach", done);
    reply->set_job(turn.job.value());
    reply->set_step(turn.step.value());
    ToWire(turn.placement, reply->mutable_placement());
    reactor->Finish(ToGrpc(done));
  });
  return reactor;
}

}  // namespace muster
