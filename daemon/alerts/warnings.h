#pragma once

// What is wrong with jobs, nodes and the controller as they run: for lists, for Ping and, through
// these, for alerts.
//
// Thread promise: safe from any thread; those of jobs on the controller's, whose state they read.
// Invariant: nothing is decided by a warning.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agents/live_usage.h"
#include "daemon/controller/meters.h"
#include "scheduler/model/job/job.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"
#include "scheduler/runtime/identity/certificate_book.h"
#include "scheduler/runtime/mutex.h"
#include "scheduler/settings/alerts/alert_judge.h"

namespace muster::daemon {

// Of a job that runs: what its programs said, its GPUs, its checkpoints.
std::vector<Warning> WarningsOf(const LiveUsage& usage, const Job& job, Time now);

// Of the controller: a slow store, a certificate that ends soon, its own or a caller's.
class ControllerWarnings {
 public:
  static constexpr std::chrono::milliseconds kSlowCommit{500};
  static constexpr std::chrono::minutes kReadEvery{10};  // the certificate

  // `certificate`: a file; empty: there is none. `callers`: the certificates of callers; null: they
  // have none. What is referred to outlives it.
  ControllerWarnings(const Meters& meters, std::string certificate,
                     CertificateBook* callers = nullptr)
      : meters_(meters), certificate_(std::move(certificate)), callers_(callers) {}
  [[nodiscard]] std::vector<Warning> Now(Time now) const;
  // Of agents and clients, whose certificates end soon.
  [[nodiscard]] std::vector<SubjectWarning> OfCallers(Time now) const;

 private:
  const Meters& meters_;
  const std::string certificate_;
  CertificateBook* const callers_;
  mutable Mutex mutex_;
  mutable Time read_ ABSL_GUARDED_BY(mutex_) = kNoTime;
  mutable std::string ending_ ABSL_GUARDED_BY(mutex_);  // empty: it does not end soon
};

}  // namespace muster::daemon
