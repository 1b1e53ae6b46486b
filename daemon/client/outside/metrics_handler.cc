#include "daemon/client/outside/metrics_handler.h"

#include <utility>

#include "daemon/access/rpc.h"
#include "daemon/client/outside/cluster_metrics.h"

namespace muster::daemon {

MetricsHandler::Kept MetricsHandler::Fresh() const {
  const MutexLock lock(&mutex_);
  return kept_ != nullptr && std::chrono::steady_clock::now() - made_ < kFresh ? kept_ : nullptr;
}

void MetricsHandler::Keep(Kept reply) {
  const MutexLock lock(&mutex_);
  kept_ = std::move(reply);
  made_ = std::chrono::steady_clock::now();
}

void MetricsHandler::ReadMetrics(const Call& call, const wire::ReadMetricsRequest& /*request*/,
                                 wire::ReadMetricsReply* reply) {
  if (const Kept fresh = Fresh()) {
    *reply = *fresh;
    call.Finish(absl::OkStatus());
    return;
  }
  controller_.Look([this, call, reply](const StateView& snapshot) -> Controller::Reply {
    auto cluster = std::make_shared<const MeteredCluster>(LookForMetrics(snapshot));
    return [this, call, reply, cluster](const absl::Status& status) {
      if (!status.ok()) {
        call.Finish(status);
        return;
      }
      ReadAside(reader_, call.reactor, [this, call, reply, cluster] {
        auto made = std::make_shared<const wire::ReadMetricsReply>(
            MetricsOf(*cluster, controller_.meters(), calls_, cluster_, MUSTER_VERSION));
        Keep(made);
        *reply = *made;
        call.Finish(absl::OkStatus());
      });
    };
  });
}

}  // namespace muster::daemon
