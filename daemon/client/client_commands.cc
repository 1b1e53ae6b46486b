// The commands of clients (client_methods.h): each is given to the controller, one that names many
// jobs once for each of them.
#include <algorithm>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/submission.h"

namespace muster::daemon {
namespace {

struct SelectedJob {
  JobId job;
  std::optional<std::uint32_t> element;
};

// Commands that one call has in the controller's queue at once.
constexpr std::size_t kTakenAtOnce = 1'000;

absl::StatusOr<std::vector<SelectedJob>> Flatten(const std::vector<JobSelector>& selectors) {
  std::vector<SelectedJob> flat;
  for (const JobSelector& selector : selectors) {
    const std::size_t more = std::max<std::size_t>(selector.elements.size(), 1);
    if (flat.size() + more > kSelectedJobsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("the call names more than ", kSelectedJobsMax,
                       " jobs and elements; name an array by its id, or call several times"));
    }
    if (selector.elements.empty()) {
      flat.push_back(SelectedJob{selector.job, std::nullopt});
    }
    for (const std::uint32_t element : selector.elements) {
      flat.push_back(SelectedJob{selector.job, element});
    }
  }
  return flat;
}

// A request that names many jobs is answered once: when what became of the last of them is durable.
// It keeps itself alive until then.
template <class Request>
class Gathered : public std::enable_shared_from_this<Gathered<Request>> {
 public:
  // Makes a command of one of them.
  using Take = std::function<void(const SelectedJob& job, Controller::Done done)>;
  Gathered(Call<Request> call, std::vector<SelectedJob> jobs, Take take)
      : call_(std::move(call)), jobs_(std::move(jobs)), take_(std::move(take)) {}

  // The first time on the caller's thread, then on the writer's, as every answer comes.
  void TakeSome() {
    const std::size_t first = taken_;
    const std::size_t end = std::min(first + kTakenAtOnce / 2, jobs_.size());
    if (first == end) {
      call_.Finish(absl::OkStatus(), outcome_);
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
  // Called for each of them, one after the other, on the writer's thread.
  void Count(const absl::Status& status, std::uint32_t reached) {
    call_.Note(status);
    if (!status.ok()) {
      outcome_.errors.emplace_back(status.message());
    }
    outcome_.changed += reached;
    --left_;
    if (taken_ < jobs_.size() ? left_ <= kTakenAtOnce / 2 : left_ == 0) {
      TakeSome();
    }
  }

  const Call<Request> call_;
  const std::vector<SelectedJob> jobs_;
  const Take take_;
  typename Request::Reply outcome_;
  std::size_t taken_ = 0;
  std::size_t left_ = 0;  // of those taken
};

// Gives the controller a command for each of the jobs; the reply leaves once all were taken. It
// refuses before the first when there is no room for them.
template <class Request>
void TakeEach(Controller& controller, const Call<Request>& call,
              absl::StatusOr<std::vector<SelectedJob>> jobs,
              typename Gathered<Request>::Take take) {
  absl::Status may = jobs.status();
  if (may.ok() && !controller.HasRoomFor(std::min(jobs->size(), kTakenAtOnce))) {
    may = absl::UnavailableError("the controller has too much to do; try again");
  }
  if (!may.ok()) {
    call.Note(may);
    call.Refuse(may);
    return;
  }
  std::make_shared<Gathered<Request>>(call, *std::move(jobs), std::move(take))->TakeSome();
}

// The answer to a command, out of what it did.
template <class Reply>
Reply AnswerOf(const core::Transition& transition) {
  if constexpr (std::is_integral_v<Reply>) {
    return transition.count;
  } else {
    Reply reply;
    if constexpr (requires { reply.job; }) {
      reply.job = transition.job;
    }
    if constexpr (requires { reply.step; }) {
      reply.step = transition.step;
      reply.placement = transition.placement;
    }
    if constexpr (requires { reply.remark; }) {
      reply.remark = transition.remark;
    }
    if constexpr (requires { reply.waits; }) {
      reply.waits = transition.waits;
    }
    return reply;
  }
}

// Takes one command and answers with what it did.
template <class Request>
void TakeOne(const Backend& backend, const Call<Request>& call, Request command) {
  TakeWithHistory(backend.controller, backend.accounting, backend.reader, std::move(command),
                  [call](const core::Transition& transition, const absl::Status& status) {
                    call.Note(status);
                    call.Finish(status, AnswerOf<typename Request::Reply>(transition));
                  });
}

// A command as the client gives it.
template <class Request>
struct Plain {
  static void Serve(Methods& methods, const Backend& backend) {
    methods.Serve<Request>([backend](const Call<Request>& call, Request command) {
      if constexpr (requires { command.by; }) {
        command.by = ActorOf(call.caller);
      }
      TakeOne(backend, call, std::move(command));
    });
  }
};

template <class Each>
struct Plain<ForJobs<Each>> {
  static void Serve(Methods& methods, const Backend& backend) {
    using Request = ForJobs<Each>;
    methods.Serve<Request>([backend](const Call<Request>& call, Request request) {
      absl::StatusOr<std::vector<SelectedJob>> jobs = Flatten(request.jobs);
      Each command(std::move(request));
      command.by = ActorOf(call.caller);
      TakeEach(backend.controller, call, std::move(jobs),
               [backend, command](const SelectedJob& job, Controller::Done done) {
                 Each one = command;
                 one.job = job.job;
                 one.array_index = job.element;
                 TakeWithHistory(backend.controller, backend.accounting, backend.reader,
                                 std::move(one), std::move(done));
               });
    });
  }
};

void ServeSubmit(const Backend& backend, const Call<SubmitJob>& call, SubmitJob command) {
  absl::Status may = call.gate.MaySubmit(call.caller);
  may = may.ok() ? call.gate.Spend(call.caller, call.bytes) : may;
  if (!may.ok()) {
    call.Note(may);
    call.Refuse(may);
    return;
  }
  ClaimSubmission(ActorOf(call.caller), command);
  TakeOne(backend, call, std::move(command));
}

void CancelSelected(const Backend& backend, const Call<CancelJobs>& call, bool all,
                    absl::StatusOr<std::vector<SelectedJob>> jobs) {
  TakeEach(
      backend.controller, call, std::move(jobs),
      [backend, all, by = ActorOf(call.caller)](const SelectedJob& job, Controller::Done done) {
        backend.controller.Take(CancelJob{job.job, job.element, by},
                                [done = std::move(done), all](const core::Transition& transition,
                                                              const absl::Status& status) {
                                  // What has ended meanwhile was not asked for by name.
                                  const bool gone = all && absl::IsNotFound(status);
                                  done(transition, gone ? absl::OkStatus() : status);
                                });
      });
}

void ServeCancel(const Backend& backend, const Call<CancelJobs>& call, const CancelJobs& request) {
  if (!request.all_of_user) {
    CancelSelected(backend, call, false, Flatten(request.jobs));
    return;
  }
  backend.controller.Look([backend, call](const StateView& snapshot) -> Controller::Reply {
    std::vector<SelectedJob> own;
    snapshot.state().jobs().ForEachRun([&](const Job& job, std::uint32_t) {
      // One request for each submission: an array's id names all of its elements.
      if (job.spec->user.uid == call.caller.user.uid &&
          (own.empty() || own.back().job != job.submission)) {
        own.push_back(SelectedJob{job.submission, std::nullopt});
      }
    });
    return [backend, call, own](const absl::Status& status) {
      CancelSelected(backend, call, true,
                     status.ok() ? absl::StatusOr<std::vector<SelectedJob>>(own) : status);
    };
  });
}

}  // namespace

void ServeCommands(Methods& methods, const Backend& backend) {
#define MUSTER_SERVE(REQUEST) Plain<REQUEST>::Serve(methods, backend);
  MUSTER_PLAIN_CLIENT_COMMANDS(MUSTER_SERVE)
#undef MUSTER_SERVE
  AnswerAtOnce<SubmitJob>(methods, backend, ServeSubmit);
  AnswerAtOnce<CancelJobs>(methods, backend, ServeCancel);
}

}  // namespace muster::daemon
