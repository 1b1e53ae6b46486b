#include "daemon/serve/beginning.h"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/agents/agent_sessions.h"
#include "daemon/serve/policy_file.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

absl::Status ApplyConfigured(const DaemonConfig& config, Controller& controller,
                             const TakeSettings& take) {
  return config.file.empty()
             ? absl::OkStatus()
             : ApplyPolicyFile(config.file, controller, UserOf(geteuid()), config.network, take);
}

}  // namespace

absl::StatusOr<JobSecrets> OpenSecrets(JobStore& store, const std::string& path) {
  ASSIGN_OR_RETURN(JobSecrets own, JobSecrets::Open(path));
  if (store.leadership() == nullptr) {
    return own;
  }
  ASSIGN_OR_RETURN(const std::string agreed, store.leadership()->AgreeOnKey(own.ToText()));
  return JobSecrets::FromText(agreed);
}

absl::StatusOr<std::unique_ptr<TokenStore>> OpenTokens(const DaemonConfig& config, JobStore& store,
                                                       const std::string& directory,
                                                       const JobSecrets& secrets,
                                                       const Clock& clock, const Logger& log) {
  TokenShelf shelf{secrets.ToText()};
  if (Leadership* const row = store.leadership(); row != nullptr) {
    shelf.read = [row] { return row->ReadTokens(); };
    shelf.write = [row](const std::string& site) { return row->WriteTokens(site); };
  }
  ASSIGN_OR_RETURN(std::unique_ptr<TokenStore> tokens,
                   TokenStore::Open(directory, config.cluster, clock, std::move(shelf)));
  if (!config.site.issuer.empty()) {
    tokens->Trust(std::make_shared<const SiteTokens>(config.site, clock, log));
  }
  return tokens;
}

absl::Status Begin(const DaemonConfig& config, JobStore& store, Controller& controller) {
  controller.OnFatal([pid = getpid()] { kill(pid, SIGUSR1); });
  if (store.leadership() != nullptr) {
    return controller.StartFollowing();
  }
  RETURN_IF_ERROR(controller.Start());
  return ApplyConfigured(config, controller, nullptr);
}

absl::Status BeginRestored(const DaemonConfig& config, const Logger& log, const Clock& clock) {
  const std::string state = absl::StrCat(config.state_dir, "/controller");
  if (access(state.c_str(), F_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--restored: there is no ", state, ": put the copy in place first, or name its --state"));
  }
  ASSIGN_OR_RETURN(
      const std::unique_ptr<JobStore> store,
      JobStore::Open(StorePlace{state, config.store, config.cluster, config.scripts()}));
  Leadership* const row = store->leadership();
  if (row != nullptr) {
    ASSIGN_OR_RETURN(const bool leads, row->TryTake(config.name, "", config.lease, false));
    if (!leads) {
      return absl::FailedPreconditionError(
          "--restored: a controller leads: stop all of them first");
    }
  }
  ASSIGN_OR_RETURN(JobSecrets secrets, OpenSecrets(*store, state + "/job.key"));
  AgentSessions sessions(log);
  Controller controller(*store, sessions, clock, log,
                        {config.policy, config.cluster, std::move(secrets)});
  RETURN_IF_ERROR(controller.Start(BeginEpoch{.restored = true}));
  controller.Stop();
  RETURN_IF_ERROR(row == nullptr ? absl::OkStatus() : row->Release(""));
  log.Info(
      "musterd",
      "restored: all jobs are held, and all nodes drained. Start musterd as usual; once the "
      "agents are back, muster resume lets jobs start on the nodes, and muster release those "
      "go that have not run since. Should agents be refused, stop it and say --restored again");
  return controller.fatal();
}

std::unique_ptr<LeaderLoop> Compete(const DaemonConfig& config, const LeadParts& parts,
                                    const Server& server, const Logger& log,
                                    const TakeSettings& take) {
  if (parts.store.leadership() == nullptr) {
    return nullptr;
  }
  TokenStore& tokens = parts.tokens;
  Controller& controller = parts.controller;
  const LeaderLoop::Settings settings{config.name, AdvertisedOf(server, config.name), config.lease,
                                      [&tokens] { return tokens.Refresh(); }};
  auto loop = std::make_unique<LeaderLoop>(parts.store, controller, log, settings, [&] {
    if (const absl::Status applied = ApplyConfigured(config, controller, take); !applied.ok()) {
      log.Error("musterd", std::string(applied.message()));
    }
  });
  parts.leadership.Use(loop.get());
  return loop;
}

TakeSettings TakeInto(TokenStore& tokens, IdleWatch& idle, AlertWatch& alerts, PriceBook& prices,
                      AccessRules& access, const Clock& clock, const Logger& log) {
  return [&tokens, &idle, &alerts, &prices, &access, &clock, &log](const DaemonConfig& read) {
    access.Use(read.access);
    idle.Use(read.idle);
    alerts.Use(read.alerts);
    prices.Use(read.prices);
    const std::shared_ptr<const SiteTokens> now = tokens.site();
    if (read.site != (now == nullptr ? SiteIssuer() : now->issuer())) {  // keys are kept otherwise
      tokens.Trust(read.site.issuer.empty()
                       ? nullptr
                       : std::make_shared<const SiteTokens>(read.site, clock, log));
    }
  };
}

std::unique_ptr<Housekeeping> KeepHouse(const DaemonConfig& config, JobStore& store,
                                        Controller& controller, const Clock& clock,
                                        const Logger& log) {
  if (config.retention.journal.count() == 0) {
    return nullptr;
  }
  return std::make_unique<Housekeeping>(store, controller, clock, log, config.retention,
                                        config.scripts());
}

std::unique_ptr<IdleWatch> WatchIdle(const DaemonConfig& config, Controller& controller,
                                     LiveUsage& usage, const Logger& log) {
  return std::make_unique<IdleWatch>(controller, usage, log, config.idle,
                                     UserOf(config.policy.operator_uid));
}

std::unique_ptr<AlertWatch> WatchAlerts(const DaemonConfig& config, Controller& controller,
                                        const LiveUsage& usage, const ControllerWarnings& warnings,
                                        const Logger& log) {
  return std::make_unique<AlertWatch>(controller, usage, warnings, log, config.alerts);
}

}  // namespace muster::daemon
