#include "daemon/serve/beginning.h"

#include <unistd.h>

#include <csignal>

#include "daemon/access/access.h"
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
                      const Clock& clock, const Logger& log) {
  return [&tokens, &idle, &alerts, &prices, &clock, &log](const DaemonConfig& read) {
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
