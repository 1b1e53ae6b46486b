// The methods that change something. Those that read are in client_reads.cc, the streams in
// client_streams.cc, steps in client_steps.cc.
#include "daemon/client_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/submission.h"
#include "proto/convert/convert.h"

namespace muster {
namespace {

// Whose call it is and of which method: what the gate's log says of a refusal.
struct Call {
  const Gate& gate;
  Caller caller;
  const char* method;
};

// Requests that name many jobs are answered once: when the last of their turns is durable.
template <class Reply>
struct Gathered {
  Call call;
  grpc::ServerUnaryReactor* reactor = nullptr;
  Reply* reply = nullptr;
  std::size_t left = 0;

  // Called for each turn, one after the other, on the writer's thread.
  void Count(const absl::Status& status, std::uint32_t reached) {
    call.gate.Note(call.caller, call.method, status);
    if (!status.ok()) {
      reply->add_errors(std::string(status.message()));
    }
    if constexpr (requires { reply->set_cancelled(0); }) {
      reply->set_cancelled(reply->cancelled() + reached);
    }
    if constexpr (requires { reply->set_signalled(0); }) {
      reply->set_signalled(reply->signalled() + reached);
    }
    if (--left == 0) {
      reactor->Finish(grpc::Status::OK);
    }
  }
};

struct Selected {
  JobId job;
  std::optional<std::uint32_t> element;
};

template <class Selectors>
std::vector<Selected> Flatten(const Selectors& selectors) {
  std::vector<Selected> flat;
  for (const wire::JobSelector& selector : selectors) {
    if (selector.elements().empty()) {
      flat.push_back(Selected{JobId(selector.job()), std::nullopt});
    }
    for (const std::uint32_t element : selector.elements()) {
      flat.push_back(Selected{JobId(selector.job()), element});
    }
  }
  return flat;
}

// Gives the controller an input for each of the jobs; the reply leaves once all were taken.
template <class Reply, class MakeInput>
void TakeEach(Controller& controller, const Call& call, grpc::ServerUnaryReactor* reactor,
              Reply* reply, const std::vector<Selected>& jobs, MakeInput make) {
  if (jobs.empty()) {
    reactor->Finish(grpc::Status::OK);
    return;
  }
  auto gathered =
      std::make_shared<Gathered<Reply>>(Gathered<Reply>{call, reactor, reply, jobs.size()});
  for (const Selected& job : jobs) {
    controller.Take(make(job), [gathered](const Turn& turn, const absl::Status& status) {
      gathered->Count(status, turn.count);
    });
  }
}

}  // namespace

ClientService::Unary* ClientService::Admit(Context* context, const char* method,
                                           std::optional<Caller>& caller) const {
  Unary* reactor = context->DefaultReactor();
  absl::StatusOr<Caller> admitted =
      gate_.Admit(*context, absl::StrCat("/muster.wire.Controller/", method));
  if (!admitted.ok()) {
    reactor->Finish(ToGrpc(admitted.status()));
    return reactor;
  }
  caller = *std::move(admitted);
  return reactor;
}

ClientService::Unary* ClientService::Submit(Context* context, const wire::SubmitRequest* request,
                                            wire::SubmitReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Submit", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  absl::StatusOr<SubmitJob> input = ReadSubmission(*request, caller->user);
  input = gate_.MaySubmit(*caller).ok() ? std::move(input) : gate_.MaySubmit(*caller);
  if (!input.ok()) {
    gate_.Note(*caller, "Submit", input.status());
    reactor->Finish(ToGrpc(input.status()));
    return reactor;
  }
  TakeWithHistory(controller_, accounting_, reader_, *std::move(input),
                  [reactor, reply](const Turn& turn, const absl::Status& done) {
                    reply->set_job(turn.job.value());
                    reactor->Finish(ToGrpc(done));
                  });
  return reactor;
}

ClientService::Unary* ClientService::Cancel(Context* context, const wire::CancelRequest* request,
                                            wire::CancelReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Cancel", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  const auto cancel = [this, call = Call{gate_, *caller, "Cancel"}, reactor, reply,
                       all = request->all_of_user()](const std::vector<Selected>& jobs) {
    if (jobs.empty()) {
      reactor->Finish(grpc::Status::OK);
      return;
    }
    auto gathered = std::make_shared<Gathered<wire::CancelReply>>(
        Gathered<wire::CancelReply>{call, reactor, reply, jobs.size()});
    for (const Selected& job : jobs) {
      controller_.Take(CancelJob{job.job, job.element, call.caller.user},
                       [gathered, all](const Turn& turn, const absl::Status& status) {
                         // What has ended meanwhile was not asked for by name.
                         const bool gone = all && absl::IsNotFound(status);
                         gathered->Count(gone ? absl::OkStatus() : status, turn.count);
                       });
    }
  };
  if (!request->all_of_user()) {
    cancel(Flatten(request->jobs()));
    return reactor;
  }
  controller_.Look([cancel, uid = caller->user.uid](const Picture& picture) -> Controller::Reply {
    std::vector<Selected> own;
    picture.state().jobs().ForEachRun([&](const Job& job, std::uint32_t) {
      // One request for each submission: an array's id names all of its elements.
      if (job.spec->user.uid == uid && (own.empty() || own.back().job != job.submission)) {
        own.push_back(Selected{job.submission, std::nullopt});
      }
    });
    return [cancel, own](const absl::Status&) { cancel(own); };
  });
  return reactor;
}

ClientService::Unary* ClientService::Hold(Context* context, const wire::HoldRequest* request,
                                          wire::HoldReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Hold", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  TakeEach(controller_, Call{gate_, *caller, "Hold"}, reactor, reply, Flatten(request->jobs()),
           [&](const Selected& job) {
             return HoldJob{job.job, job.element, request->held(), caller->user};
           });
  return reactor;
}

ClientService::Unary* ClientService::Requeue(Context* context, const wire::RequeueRequest* request,
                                             wire::RequeueReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Requeue", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  TakeEach(controller_, Call{gate_, *caller, "Requeue"}, reactor, reply, Flatten(request->jobs()),
           [&](const Selected& job) {
             return RequeueJob{job.job, job.element, caller->user};
           });
  return reactor;
}

ClientService::Unary* ClientService::Suspend(Context* context, const wire::SuspendRequest* request,
                                             wire::SuspendReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Suspend", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  TakeEach(controller_, Call{gate_, *caller, "Suspend"}, reactor, reply, Flatten(request->jobs()),
           [&](const Selected& job) {
             return SuspendJob{job.job, job.element, request->suspended(), caller->user};
           });
  return reactor;
}

ClientService::Unary* ClientService::Update(Context* context, const wire::UpdateRequest* request,
                                            wire::UpdateReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Update", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  JobUpdate changes;
  const absl::Status status = FromWire(request->changes(), &changes);
  const std::vector<Selected> jobs = Flatten(request->jobs());
  if (!status.ok() || jobs.empty()) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  }
  auto gathered = std::make_shared<Gathered<wire::UpdateReply>>(
      Gathered<wire::UpdateReply>{Call{gate_, *caller, "Update"}, reactor, reply, jobs.size()});
  for (const Selected& job : jobs) {
    TakeWithHistory(controller_, accounting_, reader_,
                    UpdateJob{job.job, job.element, changes, {}, caller->user, request->force()},
                    [gathered](const Turn& turn, const absl::Status& done) {
                      gathered->Count(done, turn.count);
                    });
  }
  return reactor;
}

ClientService::Unary* ClientService::Signal(Context* context, const wire::SignalRequest* request,
                                            wire::SignalReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Signal", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  if (!wire::SignalScope_IsValid(request->scope())) {
    reactor->Finish(ToGrpc(absl::InvalidArgumentError("scope: not one that there is")));
    return reactor;
  }
  TakeEach(controller_, Call{gate_, *caller, "Signal"}, reactor, reply, Flatten(request->jobs()),
           [&](const Selected& job) {
             SignalJob input{job.job,
                             job.element,
                             std::nullopt,
                             request->signal(),
                             static_cast<SignalScope>(request->scope()),
                             caller->user};
             if (request->has_step()) {
               input.step = StepId(request->step());
             }
             return input;
           });
  return reactor;
}

ClientService::Unary* ClientService::Drain(Context* context, const wire::DrainRequest* request,
                                           wire::DrainReply*) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "Drain", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  controller_.Take(
      DrainNode{request->node(), request->drained(), request->reason()},
      [reactor](const Turn&, const absl::Status& status) { reactor->Finish(ToGrpc(status)); });
  return reactor;
}

}  // namespace muster
