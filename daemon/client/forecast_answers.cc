// What would become of a job that is not submitted (client_methods.h): when it would start, and
// where.
#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/submission.h"
#include "scheduler/core/explain/counterfactual.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/model/job/array.h"

namespace muster::daemon {
namespace {

void InsertJob(Snapshot& snapshot, const JobSubmitted& submitted, JobId id, const JobSpec& spec) {
  WaitingJob job;
  job.id = id;
  job.submission = submitted.first;
  job.spec = std::make_shared<const JobSpec>(spec);
  job.submitted = submitted.time;
  job.held = submitted.spec.held;
  job.het_size = submitted.components.empty()
                     ? 0
                     : static_cast<std::uint32_t>(submitted.components.size()) + 1;
  if (spec.array.has_value()) {
    job.array_index = ElementIndexAt(*spec.array, 0);
  }
  snapshot.waiting.insert(
      std::upper_bound(snapshot.waiting.begin(), snapshot.waiting.end(), job, core::GoesBefore),
      std::move(job));
}

// The snapshot with the submission's first job, or all of its components, in its queue.
Snapshot WithJob(Snapshot snapshot, const JobSubmitted& submitted) {
  JobId id = submitted.first;
  InsertJob(snapshot, submitted, id, submitted.spec);
  for (const Component& component : submitted.components) {
    id = id.Next();
    InsertJob(snapshot, submitted, id, component.spec);
  }
  return snapshot;
}

StartForecast ForecastIn(const Snapshot& snapshot, const core::Forecast& forecast) {
  StartForecast answer;
  answer.start = forecast.start;
  for (const NodeSnapshot& node : snapshot.nodes) {
    if (std::find(forecast.nodes.begin(), forecast.nodes.end(), node.id) != forecast.nodes.end()) {
      answer.nodes.push_back(node.name);
    }
  }
  if (forecast.reason.kind != ReasonKind::kNone) {
    answer.reason =
        absl::StrCat(muster::Name(forecast.reason.kind), ": ", ToSentence(forecast.reason));
    answer.never = forecast.reason.verdict == ReasonClass::kNever;
  }
  return answer;
}

void AnswerTestSubmit(const Backend& backend, const Call<TestSubmit>& call, TestSubmit asked) {
  ClaimSubmission(ActorOf(call.caller), asked);
  const SubmitJob submission = std::move(asked);
  backend.controller.Look([backend, call,
                           submission](const StateView& state_view) -> Controller::Reply {
    const core::Transition transition = core::Handle(
        state_view.state(), submission, state_view.now(), *backend.controller.policy());
    if (!transition.status.ok() || transition.events.empty()) {
      // Without an event its token was that of a job that is there.
      return [call, refused = transition.status](const absl::Status&) { call.Finish(refused, {}); };
    }
    const auto snapshot = std::make_shared<const Snapshot>(
        WithJob(*core::BuildSnapshot(state_view.state(), state_view.now(), state_view.plan().get(),
                                     backend.controller.policy()->network),
                std::get<JobSubmitted>(transition.events.front())));
    return [backend, call, snapshot, job = transition.job](const absl::Status& done) {
      call.Aside(backend.reader, [backend, call, snapshot, job, done] {
        call.Finish(done, ForecastIn(*snapshot, core::ForecastOf(*snapshot, job,
                                                                 *backend.controller.policy())));
      });
    };
  });
}

}  // namespace

void ServeForecasts(Methods& methods, const Backend& backend) {
  AnswerInTurn<TestSubmit>(methods, backend, AnswerTestSubmit);
}

}  // namespace muster::daemon
