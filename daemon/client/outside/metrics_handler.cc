#include "daemon/client/outside/metrics_handler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/client/outside/cluster_metrics.h"
#include "daemon/client/outside/slurm_metrics.h"
#include "daemon/client/views/sight.h"

namespace muster::daemon {

std::shared_ptr<const MetricsHandler::Reply> MetricsHandler::Fresh(const std::string& page) const {
  const MutexLock lock(&mutex_);
  const auto kept = kept_.find(page);
  return kept != kept_.end() && std::chrono::steady_clock::now() - made_ < kFresh ? kept->second
                                                                                  : nullptr;
}

void MetricsHandler::ReadMetrics(const AnyCall& call, std::string_view request) {
  wire::ReadMetricsRequest asked;
  if (!asked.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    call.Refuse(absl::InvalidArgumentError("the request cannot be read"));
    return;
  }
  if (const absl::Status shown =
          CheckShown(call.caller, {Private::kJobs, Private::kUsage, Private::kNodes},
                     "metrics tell of all users and nodes, and are");
      !shown.ok()) {
    call.Refuse(shown);
    return;
  }
  if (!asked.page().empty() && !HasSlurmPage(asked.page())) {
    call.Refuse(absl::NotFoundError(
        absl::StrCat(asked.page(), ": no page of metrics; there are ", SlurmPageNames())));
    return;
  }
  if (const std::shared_ptr<const Reply> fresh = Fresh(asked.page())) {
    call.Send(absl::OkStatus(), *fresh);
    return;
  }
  Version since;
  {
    const MutexLock lock(&mutex_);
    waiting_.push_back({call, asked.page()});
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
        Answer(status);
      } else if (!reader_.Run([this, change] { Make(std::move(*change)); })) {
        Answer(absl::UnavailableError("too many readers; try again"));
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
  {
    const MutexLock lock(&mutex_);
    made_ = std::chrono::steady_clock::now();
    since_ = metered_.version;
  }
  Answer(absl::OkStatus());
}

std::shared_ptr<const MetricsHandler::Reply> MetricsHandler::MakePage(
    const std::string& page) const {
  const wire::ReadMetricsReply reply =
      page.empty() ? MetricsOf(metered_, controller_.meters(), calls_, cluster_, MUSTER_VERSION)
                   : SlurmPage(page, metered_, controller_.meters());
  return std::make_shared<const Reply>(reply.SerializeAsString());
}

void MetricsHandler::Answer(const absl::Status& status) {
  std::vector<Waiting> waiting;
  Pages made;
  while (true) {
    std::string missing;
    {
      const MutexLock lock(&mutex_);
      const auto unmade = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
        return status.ok() && !made.contains(one.page);
      });
      if (unmade == waiting_.end()) {
        waiting.swap(waiting_);
        kept_ = made;
        break;
      }
      missing = unmade->page;
    }
    made[missing] = MakePage(missing);
  }
  for (const Waiting& one : waiting) {
    one.call.Send(status, status.ok() ? *made[one.page] : "");
  }
}

}  // namespace muster::daemon
