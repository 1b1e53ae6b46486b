#include "daemon/client/step_handler.h"

#include <utility>

#include "proto/convert/convert.h"

namespace muster::daemon {

void StepHandler::StartStep(const Call& call, const wire::StartStepRequest& request,
                            wire::StartStepReply* reply) {
  muster::StartStep input;
  input.token = request.token();
  input.job = JobId(request.job());
  input.by = call.caller.user;
  absl::Status status = FromWire(request.spec(), &input.spec);
  status.Update(FromWire(request.program(), &input.program));
  if (!status.ok()) {
    call.Finish(status);
    return;
  }
  controller_.Take(std::move(input),
                   [call, reply](const core::Transition& transition, const absl::Status& done) {
                     call.Note(done);
                     reply->set_step(transition.step.value());
                     reply->set_waits(transition.waits);
                     ToWire(transition.placement, reply->mutable_placement());
                     call.Finish(done);
                   });
}

void StepHandler::Attach(const Call& call, const wire::AttachRequest& request,
                         wire::AttachReply* reply) {
  AttachStep input;
  input.job = JobId(request.job());
  input.by = call.caller.user;
  input.input = request.input();
  if (request.has_array_index()) {
    input.array_index = request.array_index();
  }
  if (request.has_step()) {
    input.step = StepId(request.step());
  }
  if (const absl::Status status = FromWire(request.io(), &input.io); !status.ok()) {
    call.Finish(status);
    return;
  }
  controller_.Take(std::move(input),
                   [call, reply](const core::Transition& transition, const absl::Status& done) {
                     call.Note(done);
                     reply->set_job(transition.job.value());
                     reply->set_step(transition.step.value());
                     ToWire(transition.placement, reply->mutable_placement());
                     call.Finish(done);
                   });
}

}  // namespace muster::daemon
