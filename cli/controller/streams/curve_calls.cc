#include "cli/controller/streams/curve_calls.h"

#include <chrono>
#include <memory>

#include "cli/controller/channel.h"
#include "cli/controller/connection.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kCurveTimeout{30};

UsageCurve CurveOf(const wire::JobCurve& read) {
  UsageCurve curve{read.label(), {}};
  for (const wire::CurvePoint& point : read.points()) {
    curve.points.push_back({Time(Duration(point.start())), Duration(point.span()), point.cpus(),
                            point.gpus(), point.watts(), Bytes(point.memory()),
                            Bytes(point.gpu_memory())});
  }
  return curve;
}

}  // namespace

absl::StatusOr<std::vector<UsageCurve>> ReadCurves(const Address& address,
                                                   const JobSelector& selector) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  RETURN_IF_ERROR(connection->Call(Ping{}).status());
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(address));
  wire::ShowCurveRequest request;
  request.mutable_job()->set_job(selector.job.value());
  request.mutable_job()->mutable_elements()->Add(selector.elements.begin(),
                                                 selector.elements.end());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCurveTimeout);
  wire::ShowCurveReply reply;
  const grpc::Status status =
      wire::Controller::NewStub(channel)->ShowCurve(&context, request, &reply);
  if (!status.ok()) {
    return Refusal(status);
  }
  std::vector<UsageCurve> curves;
  for (const wire::JobCurve& curve : reply.curves()) {
    curves.push_back(CurveOf(curve));
  }
  return curves;
}

}  // namespace muster::cli
