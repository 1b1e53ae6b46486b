#include "daemon/client/outside/metrics_handler.h"

#include <utility>

#include "daemon/client/outside/cluster_metrics.h"

namespace muster::daemon {

std::shared_ptr<const MetricsHandler::Reply> MetricsHandler::Fresh() const {
  const MutexLock lock(&mutex_);
  return kept_ != nullptr && std::chrono::steady_clock::now() - made_ < kFresh ? kept_ : nullptr;
}

void MetricsHandler::ReadMetrics(const AnyCall& call) {
  if (const std::shared_ptr<const Reply> fresh = Fresh()) {
    call.Send(absl::OkStatus(), *fresh);
    return;
  }
  Version since;
  {
    const MutexLock lock(&mutex_);
    waiting_.push_back(call);
    if (waiting_.size() > 1) {
      return;
    }
    since = since_;
  }
  Look(since);
}

void MetricsHandler::Look(Version since) {
  controller_.Look([this, since](const StateView& snapshot) -> Controller::Reply {
    const auto begun = std::chrono::steady_clock::now();
    auto change = std::make_shared<MeteredChange>(LookForMetrics(snapshot, since));
    change->took = std::chrono::steady_clock::now() - begun;
    return [this, change](const absl::Status& status) {
      if (!status.ok()) {
        Answer(status, nullptr);
      } else if (!reader_.Run([this, change] { Make(std::move(*change)); })) {
        Answer(absl::UnavailableError("too many readers; try again"), nullptr);
      }
    };
  });
}

void MetricsHandler::Make(MeteredChange change) {
  if (!metered_.Take(std::move(change))) {
    Look(Version());  // all that there is follows on anything
    return;
  }
  metered_.gpus = usage_.OfGpus();
  const auto made = std::make_shared<const Reply>(
      MetricsOf(metered_, controller_.meters(), calls_, cluster_, MUSTER_VERSION)
          .SerializeAsString());
  {
    const MutexLock lock(&mutex_);
    kept_ = made;
    made_ = std::chrono::steady_clock::now();
    since_ = metered_.version;
  }
  Answer(absl::OkStatus(), made);
}

void MetricsHandler::Answer(const absl::Status& status, const std::shared_ptr<const Reply>& reply) {
  std::vector<AnyCall> waiting;
  {
    const MutexLock lock(&mutex_);
    waiting.swap(waiting_);
  }
  for (const AnyCall& call : waiting) {
    call.Send(status, reply == nullptr ? "" : *reply);
  }
}

}  // namespace muster::daemon
