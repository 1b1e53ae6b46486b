#include "daemon/client/job_handler.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/submission.h"
#include "proto/convert/convert.h"

namespace muster::daemon {
namespace {

struct SelectedJob {
  JobId job;
  std::optional<std::uint32_t> element;
};

// What one call may name. An array has an id of its own, so few calls name many.
constexpr std::size_t kSelectedMax = 10'000;
// Inputs that one call has in the controller's queue at once.
constexpr std::size_t kTakenAtOnce = 1'000;

template <class Selectors>
absl::StatusOr<std::vector<SelectedJob>> Flatten(const Selectors& selectors) {
  std::vector<SelectedJob> flat;
  for (const wire::JobSelector& selector : selectors) {
    const std::size_t more = std::max(selector.elements_size(), 1);
    if (flat.size() + more > kSelectedMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("the call names more than ", kSelectedMax,
                       " jobs and elements; name an array by its id, or call several times"));
    }
    if (selector.elements().empty()) {
      flat.push_back(SelectedJob{JobId(selector.job()), std::nullopt});
    }
    for (const std::uint32_t element : selector.elements()) {
      flat.push_back(SelectedJob{JobId(selector.job()), element});
    }
  }
  return flat;
}

// A request that names many jobs is answered once: when the last of their turns is durable. It
// keeps itself alive until then.
template <class Reply>
class Gathered : public std::enable_shared_from_this<Gathered<Reply>> {
 public:
  // Makes an input of one of them.
  using Take = std::function<void(const SelectedJob& job, Controller::Done done)>;
  Gathered(Call call, Reply* reply, std::vector<SelectedJob> jobs, Take take)
      : call_(std::move(call)), reply_(reply), jobs_(std::move(jobs)), take_(std::move(take)) {}

  // The first time on the caller's thread, then on the writer's, as every answer comes. The next
  // are taken while half of these are still on their way, so that loop and writer both have work.
  void TakeSome() {
    const std::size_t first = taken_;
    const std::size_t end = std::min(first + kTakenAtOnce / 2, jobs_.size());
    if (first == end) {
      call_.Finish(absl::OkStatus());
      return;
    }
    taken_ = end;
    left_ += end - first;
    for (std::size_t i = first; i < end; ++i) {
      take_(jobs_[i], [self = this->shared_from_this()](const core::Transition& transition,
                                                        const absl::Status& status) {
        self->Count(status, transition.count);
      });
    }
  }

 private:
  // Called for each turn, one after the other, on the writer's thread.
  void Count(const absl::Status& status, std::uint32_t reached) {
    call_.Note(status);
    if (!status.ok()) {
      reply_->add_errors(std::string(status.message()));
    }
    if constexpr (requires { reply_->set_cancelled(0); }) {
      reply_->set_cancelled(reply_->cancelled() + reached);
    }
    if constexpr (requires { reply_->set_signalled(0); }) {
      reply_->set_signalled(reply_->signalled() + reached);
    }
    --left_;
    if (taken_ < jobs_.size() ? left_ <= kTakenAtOnce / 2 : left_ == 0) {
      TakeSome();
    }
  }

  const Call call_;
  Reply* const reply_;
  const std::vector<SelectedJob> jobs_;
  const Take take_;
  std::size_t taken_ = 0;
  std::size_t left_ = 0;  // of those taken
};

// Gives the controller an input for each of the jobs; the reply leaves once all were taken. It
// refuses before the first when there is no room for them.
template <class Reply>
void TakeEach(Controller& controller, const Call& call, Reply* reply,
              absl::StatusOr<std::vector<SelectedJob>> jobs, typename Gathered<Reply>::Take take) {
  absl::Status may = jobs.status();
  if (may.ok() && !controller.HasRoomFor(std::min(jobs->size(), kTakenAtOnce))) {
    may = absl::UnavailableError("the controller has too much to do; try again");
  }
  if (!may.ok()) {
    call.Note(may);
    call.Finish(may);
    return;
  }
  std::make_shared<Gathered<Reply>>(call, reply, *std::move(jobs), std::move(take))->TakeSome();
}

}  // namespace

void JobHandler::Submit(const Call& call, const wire::SubmitRequest& request,
                        wire::SubmitReply* reply) {
  auto* const reactor = call.reactor;
  absl::Status may = call.gate.MaySubmit(call.caller);
  may = may.ok() ? call.gate.Spend(call.caller, request.ByteSizeLong()) : may;
  absl::StatusOr<SubmitJob> input =
      may.ok() ? ReadSubmission(request, call.caller.user) : absl::StatusOr<SubmitJob>(may);
  if (!input.ok()) {
    call.Note(input.status());
    call.Finish(input.status());
    return;
  }
  TakeWithHistory(controller_, accounting_, reader_, *std::move(input),
                  [reactor, reply](const core::Transition& transition, const absl::Status& done) {
                    reply->set_job(transition.job.value());
                    reactor->Finish(ToGrpc(done));
                  });
}

void JobHandler::Cancel(const Call& call, const wire::CancelRequest& request,
                        wire::CancelReply* reply) {
  const auto cancel = [this, call, reply,
                       all = request.all_of_user()](absl::StatusOr<std::vector<SelectedJob>> jobs) {
    TakeEach(controller_, call, reply, std::move(jobs),
             [this, all, by = call.caller.user](const SelectedJob& job, Controller::Done done) {
               controller_.Take(CancelJob{job.job, job.element, by},
                                [done = std::move(done), all](const core::Transition& transition,
                                                              const absl::Status& status) {
                                  // What has ended meanwhile was not asked for by name.
                                  const bool gone = all && absl::IsNotFound(status);
                                  done(transition, gone ? absl::OkStatus() : status);
                                });
             });
  };
  if (!request.all_of_user()) {
    cancel(Flatten(request.jobs()));
    return;
  }
  controller_.Look(
      [cancel, uid = call.caller.user.uid](const StateView& snapshot) -> Controller::Reply {
        std::vector<SelectedJob> own;
        snapshot.state().jobs().ForEachRun([&](const Job& job, std::uint32_t) {
          // One request for each submission: an array's id names all of its elements.
          if (job.spec->user.uid == uid && (own.empty() || own.back().job != job.submission)) {
            own.push_back(SelectedJob{job.submission, std::nullopt});
          }
        });
        return [cancel, own](const absl::Status& status) {
          cancel(status.ok() ? absl::StatusOr<std::vector<SelectedJob>>(own) : status);
        };
      });
}

void JobHandler::Hold(const Call& call, const wire::HoldRequest& request, wire::HoldReply* reply) {
  TakeEach(controller_, call, reply, Flatten(request.jobs()),
           [this, held = request.held(), by = call.caller.user](const SelectedJob& job,
                                                                Controller::Done done) {
             controller_.Take(HoldJob{job.job, job.element, held, by}, std::move(done));
           });
}

void JobHandler::Requeue(const Call& call, const wire::RequeueRequest& request,
                         wire::RequeueReply* reply) {
  TakeEach(controller_, call, reply, Flatten(request.jobs()),
           [this, by = call.caller.user](const SelectedJob& job, Controller::Done done) {
             controller_.Take(RequeueJob{job.job, job.element, by}, std::move(done));
           });
}

void JobHandler::Suspend(const Call& call, const wire::SuspendRequest& request,
                         wire::SuspendReply* reply) {
  TakeEach(controller_, call, reply, Flatten(request.jobs()),
           [this, suspended = request.suspended(), by = call.caller.user](const SelectedJob& job,
                                                                          Controller::Done done) {
             controller_.Take(SuspendJob{job.job, job.element, suspended, by}, std::move(done));
           });
}

void JobHandler::Update(const Call& call, const wire::UpdateRequest& request,
                        wire::UpdateReply* reply) {
  JobUpdate changes;
  absl::StatusOr<std::vector<SelectedJob>> jobs = Flatten(request.jobs());
  if (absl::Status status = FromWire(request.changes(), &changes); !status.ok()) {
    jobs = std::move(status);
  }
  TakeEach(controller_, call, reply, std::move(jobs),
           [this, changes = std::move(changes), by = call.caller.user, force = request.force()](
               const SelectedJob& job, Controller::Done done) {
             TakeWithHistory(controller_, accounting_, reader_,
                             UpdateJob{job.job, job.element, changes, {}, by, force},
                             std::move(done));
           });
}

void JobHandler::Signal(const Call& call, const wire::SignalRequest& request,
                        wire::SignalReply* reply) {
  if (!wire::SignalScope_IsValid(request.scope())) {
    call.Finish(absl::InvalidArgumentError("scope: not one that there is"));
    return;
  }
  SignalJob asked;
  asked.signal = request.signal();
  asked.scope = static_cast<SignalScope>(request.scope());
  asked.by = call.caller.user;
  if (request.has_step()) {
    asked.step = StepId(request.step());
  }
  TakeEach(controller_, call, reply, Flatten(request.jobs()),
           [this, asked](const SelectedJob& job, Controller::Done done) {
             SignalJob input = asked;
             input.job = job.job;
             input.array_index = job.element;
             controller_.Take(std::move(input), std::move(done));
           });
}

}  // namespace muster::daemon
