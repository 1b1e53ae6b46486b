#include "cli/controller/streams/metric_calls.h"

#include <memory>
#include <numeric>
#include <utility>

#include "cli/controller/channel.h"
#include "cli/controller/connection.h"
#include "proto/controller.grpc.pb.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kMetricsTimeout{10};

}  // namespace

MetricValue Metrics::First(const std::string& name) const {
  const auto family = families.find(name);
  return family == families.end() || family->second.empty() ? MetricValue()
                                                            : family->second.front();
}

absl::StatusOr<Metrics> ReadMetrics(const Address& address) {
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, OpenChannel(address));
  const auto stub = wire::Controller::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kMetricsTimeout);
  wire::ReadMetricsReply reply;
  const grpc::Status status = stub->ReadMetrics(&context, wire::ReadMetricsRequest(), &reply);
  if (!status.ok()) {
    return Refusal(status);
  }
  Metrics metrics;
  metrics.time = Time(Duration(reply.time()));
  for (const wire::MetricFamily& family : reply.families()) {
    std::vector<MetricValue>& values = metrics.families[family.name()];
    for (const wire::MetricSample& sample : family.samples()) {
      values.push_back(
          {{sample.labels().begin(), sample.labels().end()},
           sample.value(),
           std::accumulate(sample.counts().begin(), sample.counts().end(), std::uint64_t{0})});
    }
  }
  return metrics;
}

}  // namespace muster::cli
