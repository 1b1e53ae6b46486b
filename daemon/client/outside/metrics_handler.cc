#include "daemon/client/outside/metrics_handler.h"

#include <utility>

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

void MetricsHandler::ReadMetrics(const AnyCall& call) {
  if (const Kept fresh = Fresh()) {
    call.Send(absl::OkStatus(), fresh->SerializeAsString());
    return;
  }
  controller_.Look([this, call](const StateView& snapshot) -> Controller::Reply {
    auto cluster = std::make_shared<const MeteredCluster>(LookForMetrics(snapshot));
    return [this, call, cluster](const absl::Status& status) {
      if (!status.ok()) {
        call.Refuse(status);
        return;
      }
      call.Aside(reader_, [this, call, cluster] {
        auto made = std::make_shared<const wire::ReadMetricsReply>(
            MetricsOf(*cluster, controller_.meters(), calls_, cluster_, MUSTER_VERSION));
        Keep(made);
        call.Send(absl::OkStatus(), made->SerializeAsString());
      });
    };
  });
}

}  // namespace muster::daemon
