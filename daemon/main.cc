// musterd: wiring only.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access.h"
#include "daemon/agent_sessions.h"
#include "daemon/client_service.h"
#include "daemon/config.h"
#include "daemon/controller.h"
#include "daemon/job_secrets.h"
#include "daemon/policy_file.h"
#include "daemon/server.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/service_manager.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/runtime/signing_key.h"

namespace muster {
namespace {

constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;
constexpr int kExitStoreLost = 74;  // EX_IOERR: the store may have lost data; restart after looking

void SayReady(int fd) {
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(fd, "ready\n", 6);
    close(fd);
  }
}

// Says that we live, once the controller's loop and the store's writer have both come round.
void ProveLife(Controller& controller, const ServiceManager& manager) {
  controller.Look(
      [&manager](const Picture&) { return [&manager](const absl::Status&) { manager.Alive(); }; });
}

void Reload(const DaemonConfig& config, Controller& controller, const Logger& log,
            const ServiceManager& manager) {
  manager.Reloading();
  ReloadPolicy(config.file, config.network, controller, log);
  manager.Ready("serving");
}

// Waits for SIGTERM or SIGINT, or for the controller to end by itself.
absl::Status WaitForEnd(const UniqueFd& signals, const DaemonConfig& config, Controller& controller,
                        const Logger& log, const ServiceManager& manager) {
  const int feed_every =
      manager.feed_every().count() > 0 ? static_cast<int>(manager.feed_every().count()) : -1;
  while (true) {
    pollfd ready{signals.get(), POLLIN, 0};
    if (poll(&ready, 1, feed_every) == 0) {
      ProveLife(controller, manager);
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<SignalEvent> event, NextSignal(signals));
    if (event.has_value() && event->number == SIGHUP) {
      Reload(config, controller, log, manager);
    } else if (event.has_value()) {
      log.Info("musterd", absl::StrCat("signal ", event->number, ": stopping; jobs go on"));
      return absl::OkStatus();
    }
  }
}

absl::Status Run(const DaemonConfig& config, ServiceManager manager, const Logger& log,
                 const Clock& clock) {
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT, SIGHUP, SIGUSR1}));
  RETURN_IF_ERROR(CheckEveryMethodHasARow());
  std::vector<UniqueFd> passed = manager.TakeListeners();
  const std::vector<std::string> addresses = AddressesOf(config, !passed.empty());
  for (const std::string& address : addresses) {
    RETURN_IF_ERROR(CheckAddress(address, config.tls));
  }
  RETURN_IF_ERROR(EnsurePrivateDirectory(config.state_dir));
  ASSIGN_OR_RETURN(const std::unique_ptr<JobStore> store,
                   JobStore::Open(absl::StrCat(config.state_dir, "/controller")));
  ASSIGN_OR_RETURN(const std::unique_ptr<Accounting> accounting,
                   Accounting::Open(absl::StrCat(config.state_dir, "/controller")));
  ASSIGN_OR_RETURN(JobSecrets secrets,
                   JobSecrets::Open(absl::StrCat(config.state_dir, "/controller/job.key")));
  ASSIGN_OR_RETURN(
      const std::unique_ptr<OrderSigner> signer,
      OrderSigner::Open(absl::StrCat(config.state_dir, "/controller/order.key"), config.tls.key));
  const auto munge = MungeDoor::Open(config.munge_socket, config.tls.certificate, log);
  const Gate gate(log, config.tls.revoked, munge.get(), config.least_uid());
  AgentSessions sessions(log);
  Controller controller(*store, sessions, clock, log, config.policy, config.cluster,
                        std::move(secrets));
  controller.OnFatal([pid = getpid()] { kill(pid, SIGUSR1); });
  RETURN_IF_ERROR(controller.Start());
  if (!config.file.empty()) {
    RETURN_IF_ERROR(ApplyPolicyFile(config.file, controller, UserOf(geteuid()), config.network));
  }
  AgentService agents(controller, sessions, {config.cluster, clock, gate, *signer});
  ClientService clients(controller, *accounting, *store, config.cluster, gate);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Server> server,
      Server::Start(addresses, config.tls, {&agents, &clients}, std::move(passed), munge));
  server->Tell(log);
  SayReady(config.ready_fd);
  manager.Ready("serving");
  const absl::Status ended = WaitForEnd(signals, config, controller, log, manager);
  manager.Stopping();
  server->Stop();
  controller.Stop();
  return controller.fatal().ok() ? ended : controller.fatal();
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::KeepOpenSslToTheEnd();
  const absl::StatusOr<muster::DaemonConfig> config = muster::ParseConfig(argc, argv);
  if (!config.ok()) {
    std::fprintf(stderr, "musterd: %s\n", std::string(config.status().message()).c_str());
    return muster::kExitUsage;
  }
  if (config->help) {
    std::fputs(config->help_text.c_str(), stdout);
    return 0;
  }
  muster::IgnoreBrokenPipes();
  const muster::SystemClock clock;
  const muster::Logger log = muster::Logger::ToStandardError(clock);
  const absl::Status status =
      muster::Run(*config, muster::ServiceManager::FromEnvironment(), log, clock);
  if (!status.ok()) {
    std::fprintf(stderr, "musterd: %s\n", std::string(status.message()).c_str());
    return absl::IsDataLoss(status)          ? muster::kExitStoreLost
           : absl::IsInvalidArgument(status) ? muster::kExitUsage
                                             : muster::kExitRefused;
  }
  return 0;
}
