#pragma once

// How a controller begins: alone at once, or as one of several, of which one leads.
//
// Thread promise: main's. Invariant: the configuration's policy is the controller's whenever it
// begins to lead.

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/rights/access_rules.h"
#include "daemon/access/token_store.h"
#include "daemon/agents/live_usage.h"
#include "daemon/alerts/alert_watch.h"
#include "daemon/client/views/job_costs.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/job_secrets.h"
#include "daemon/leading/leader_loop.h"
#include "daemon/leading/leadership_service.h"
#include "daemon/serve/config.h"
#include "daemon/serve/housekeeping.h"
#include "daemon/serve/idle_watch.h"
#include "daemon/serve/policy_file.h"
#include "daemon/serve/prefetch.h"
#include "daemon/serve/server.h"
#include "daemon/store/job_store.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// The key in the file `path`, or that of the controllers that share the store.
absl::StatusOr<JobSecrets> OpenSecrets(JobStore& store, const std::string& path);

// The tokens in files of `directory`, or those of the controllers that share the store, which
// outlives them, and those of the site's issuer.
absl::StatusOr<std::unique_ptr<TokenStore>> OpenTokens(const DaemonConfig& config, JobStore& store,
                                                       const std::string& directory,
                                                       const JobSecrets& secrets,
                                                       const Clock& clock, const Logger& log);

// Has the controller lead when nobody else can, else follow whoever does.
absl::Status Begin(const DaemonConfig& config, JobStore& store, Controller& controller);

// What a controller that may lead has.
struct LeadParts {
  JobStore& store;
  Controller& controller;
  TokenStore& tokens;
  LeadershipService& leadership;
};

// Takes over a state that was restored from a copy, whatever the cluster did since it was made: a
// new epoch is above what agents have seen, new jobs have other numbers, and all jobs are held.
// FailedPrecondition when a controller leads.
absl::Status BeginRestored(const DaemonConfig& config, const Logger& log, const Clock& clock);

// Has a controller that follows lead when it is its turn, and `leadership` answer by that; null: it
// is alone. All that is referred to outlives the loop.
std::unique_ptr<LeaderLoop> Compete(const DaemonConfig& config, const LeadParts& parts,
                                    const Server& server, const Logger& log,
                                    const TakeSettings& take);

// Puts in force what of a configuration that was read again has no part in its policy. All that is
// referred to outlives it.
TakeSettings TakeInto(TokenStore& tokens, IdleWatch& idle, AlertWatch& alerts, PriceBook& prices,
                      AccessRules& access, const Clock& clock, const Logger& log);

// Has the store keep no more than the configuration says; null: it keeps all. All that is referred
// to outlives it.
std::unique_ptr<Housekeeping> KeepHouse(const DaemonConfig& config, JobStore& store,
                                        Controller& controller, const Clock& clock,
                                        const Logger& log);

// Looks for jobs whose GPUs are idle, as long as [idle] says anything. As above.
std::unique_ptr<IdleWatch> WatchIdle(const DaemonConfig& config, Controller& controller,
                                     LiveUsage& usage, const Logger& log);

// Has the state's alerts be those that last. As above.
std::unique_ptr<AlertWatch> WatchAlerts(const DaemonConfig& config, Controller& controller,
                                        const LiveUsage& usage, const ControllerWarnings& warnings,
                                        const Logger& log);

}  // namespace muster::daemon
