#include "daemon/client/outside/page_handler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/views/sight.h"
#include "daemon/controller/views.h"

namespace muster::daemon {
namespace {

void AddReservation(const PlannedReservation& promise, const StateView& snapshot,
                    const Sight& sight, PlannedStarts& planned) {
  const Job* const job = snapshot.state().FindJob(promise.job);
  if (job == nullptr || !sight.Shows(Private::kJobs, job->spec->user.name, job->spec->account)) {
    return;
  }
  JobView view = ViewOf(*job, nullptr);
  PlannedJob& shown = planned.jobs.emplace_back();
  shown.job = job->id;
  shown.label = std::move(view.label);
  shown.name = std::move(view.name);
  shown.user = std::move(view.user);
  shown.start = promise.start;
  shown.end = view.time_limit.count() > 0 ? promise.start + view.time_limit : kNoTime;
  for (const ReservedNode& reserved : promise.nodes) {
    if (const Node* const node = snapshot.state().FindNode(reserved.node)) {
      shown.nodes.push_back(node->name);
    }
  }
}

}  // namespace

void ServePictures(Methods& methods, Controller& controller, const LiveUsage& usage) {
  methods.ServeInTurn<ShowCurve>([&usage](const Call<ShowCurve>& call, const ShowCurve& asked) {
    AnswerShowCurve(usage, call, asked);
  });
  methods.ServeInTurn<ShowPlan>([&controller](const Call<ShowPlan>& call, const ShowPlan&) {
    AnswerShowPlan(controller, call);
  });
}

void AnswerShowCurve(const LiveUsage& usage, const Call<ShowCurve>& call, const ShowCurve& asked) {
  const std::vector<JobCurve> curves =
      usage.Curves(asked.job.job, asked.job.elements,
                   [&call](const std::string& user) { return MaySee(call.caller, user); });
  if (curves.empty()) {
    call.Refuse(absl::NotFoundError(
        absl::StrCat("job ", asked.job.job.value(),
                     ": no samples of it; the first comes some seconds after its start, ",
                     "and those of jobs that ended long ago are gone")));
    return;
  }
  call.Finish(absl::OkStatus(), curves);
}

void AnswerShowPlan(Controller& controller, const Call<ShowPlan>& call) {
  controller.Look([call](const StateView& snapshot) -> Controller::Reply {
    auto planned = std::make_shared<PlannedStarts>();
    const Sight sight(call.caller, snapshot.state());
    planned->time = snapshot.now();
    if (snapshot.plan() != nullptr) {
      for (const PlannedReservation& promise : snapshot.plan()->reservations) {
        AddReservation(promise, snapshot, sight, *planned);
      }
    }
    return [call, planned](const absl::Status& status) { call.Finish(status, *planned); };
  });
}

}  // namespace muster::daemon
