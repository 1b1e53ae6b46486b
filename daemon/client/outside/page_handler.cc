#include "daemon/client/outside/page_handler.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/controller/views.h"
#include "proto/controller.pb.h"

namespace muster::daemon {
namespace {

std::int64_t Millis(Time time) {
  return time.time_since_epoch().count();
}

void AddCurve(const JobCurve& curve, wire::ShowCurveReply& reply) {
  wire::JobCurve* const shown = reply.add_curves();
  shown->set_job(curve.job.value());
  shown->set_label(curve.label);
  for (const CurvePoint& point : curve.points) {
    wire::CurvePoint* const row = shown->add_points();
    row->set_start(Millis(point.start));
    row->set_span(point.span.count());
    row->set_cpus(point.cpus);
    row->set_gpus(point.gpus);
    row->set_watts(point.watts);
    row->set_memory(point.memory.value());
    row->set_gpu_memory(point.gpu_memory.value());
  }
}

void AddReservation(const PlannedReservation& promise, const StateView& snapshot,
                    wire::ShowPlanReply& reply) {
  const Job* const job = snapshot.state().FindJob(promise.job);
  if (job == nullptr) {
    return;
  }
  wire::PlannedJob* const shown = reply.add_jobs();
  const JobView view = ViewOf(*job, nullptr);
  shown->set_job(job->id.value());
  shown->set_label(view.label);
  shown->set_name(view.name);
  shown->set_user(view.user);
  shown->set_start(Millis(promise.start));
  shown->set_end(view.time_limit.count() > 0 ? Millis(promise.start + view.time_limit) : 0);
  for (const ReservedNode& reserved : promise.nodes) {
    if (const Node* const node = snapshot.state().FindNode(reserved.node)) {
      shown->add_nodes(node->name);
    }
  }
}

}  // namespace

void PageHandler::ShowCurve(const AnyCall& call, std::string_view request) const {
  wire::ShowCurveRequest asked;
  if (!asked.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    call.Refuse(absl::InvalidArgumentError("ShowCurve: the request is no ShowCurveRequest"));
    return;
  }
  const wire::JobSelector& selector = asked.job();
  const std::vector<JobCurve> curves = usage_.Curves(
      JobId(selector.job()), {selector.elements().begin(), selector.elements().end()});
  if (curves.empty()) {
    call.Refuse(absl::NotFoundError(absl::StrCat(
        "job ", selector.job(), ": no samples of it; the first comes some seconds after its start, ",
        "and those of jobs that ended long ago are gone")));
    return;
  }
  wire::ShowCurveReply reply;
  for (const JobCurve& curve : curves) {
    AddCurve(curve, reply);
  }
  call.Send(absl::OkStatus(), reply.SerializeAsString());
}

void PageHandler::ShowPlan(const AnyCall& call) const {
  controller_.Look([call](const StateView& snapshot) -> Controller::Reply {
    wire::ShowPlanReply reply;
    reply.set_time(Millis(snapshot.now()));
    if (snapshot.plan() != nullptr) {
      for (const PlannedReservation& promise : snapshot.plan()->reservations) {
        AddReservation(promise, snapshot, reply);
      }
    }
    return [call, message = reply.SerializeAsString()](const absl::Status& status) {
      call.Send(status, message);
    };
  });
}

}  // namespace muster::daemon
