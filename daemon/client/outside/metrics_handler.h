#pragma once

// The call for metrics: what the controller counts, and who is in the cluster.
//
// Thread promise: gRPC's threads call in and never wait; answers are made by `reader`. Invariant:
// however many ask, the controller's thread looks at most once in kFresh, and no
// look begins before the one before has been answered.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "daemon/access/call.h"
#include "daemon/agents/live_usage.h"
#include "daemon/client/outside/metered_cluster.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "proto/controller.pb.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class MetricsHandler {
 public:
  static constexpr std::chrono::seconds kFresh{1};
  // `calls`: of each method, how long its calls took. Everything that is referred to outlives the
  // answers.
  MetricsHandler(Controller& controller, const LiveUsage& usage, std::string cluster,
                 const std::map<std::string, Timings>& calls, Worker& reader)
      : controller_(controller),
        usage_(usage),
        cluster_(std::move(cluster)),
        calls_(calls),
        reader_(reader) {}

  // `request`: the bytes of a wire::ReadMetricsRequest. The reply is a message for programs alone
  // (wire::ReadMetricsReply). NotFound: there is no such page.
  void ReadMetrics(const AnyCall& call, std::string_view request);

 private:
  using Reply = std::string;  // the bytes of a wire::ReadMetricsReply
  using Pages = std::map<std::string, std::shared_ptr<const Reply>>;  // by their names
  struct Waiting {
    AnyCall call;
    std::string page;
  };
  [[nodiscard]] std::shared_ptr<const Reply> Fresh(const std::string& page) const;
  void Look(Version since);
  void Make(MeteredChange change);
  [[nodiscard]] std::shared_ptr<const Reply> MakePage(const std::string& page) const;
  // Answers all who wait for `status`, or for the page that they want.
  void Answer(const absl::Status& status);

  Controller& controller_;
  const LiveUsage& usage_;
  const std::string cluster_;
  const std::map<std::string, Timings>& calls_;
  Worker& reader_;
  MeteredCluster metered_;  // the reader's
  mutable Mutex mutex_;
  // Of what is asked for now; the first of them had it looked for.
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  Version since_ ABSL_GUARDED_BY(mutex_);  // of `metered_`
  Pages kept_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point made_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
