#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/access/rights/access_rules.h"
#include "daemon/access/token_store.h"
#include "daemon/agents/agent_sessions.h"
#include "daemon/agents/live_usage.h"
#include "daemon/client/client_service.h"
#include "daemon/client/framed_calls.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/job_secrets.h"
#include "daemon/door/acceptor.h"
#include "daemon/leading/leadership_service.h"
#include "daemon/serve/beginning.h"
#include "daemon/serve/config.h"
#include "daemon/serve/server.h"
#include "daemon/serve/serving.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/service/systemd.h"
#include "scheduler/runtime/signals.h"

namespace muster::daemon {
namespace {

absl::Status Run(const DaemonConfig& config, ServiceManager manager, const Logger& log,
                 const Clock& clock) {
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT, SIGHUP, SIGUSR1}));
  RETURN_IF_ERROR(CheckEveryMethodHasARow());
  if (config.restored) {
    return BeginRestored(config, log, clock);
  }
  std::vector<UniqueFd> passed = manager.TakeListeners();
  const std::vector<std::string> addresses = AddressesOf(config, !passed.empty());
  RETURN_IF_ERROR(CheckAddresses(addresses, config.tls));
  RETURN_IF_ERROR(EnsurePrivateDirectory(config.state_dir));
  const std::string state = absl::StrCat(config.state_dir, "/controller");
  const StorePlace place{state, config.store, config.cluster, config.scripts()};
  ASSIGN_OR_RETURN(const std::unique_ptr<JobStore> store, JobStore::Open(place));
  ASSIGN_OR_RETURN(const std::unique_ptr<Accounting> accounting, Accounting::Open(*store));
  ASSIGN_OR_RETURN(JobSecrets secrets, OpenSecrets(*store, state + "/job.key"));
  ASSIGN_OR_RETURN(const std::unique_ptr<OrderSigner> signer,
                   OrderSigner::Open(state + "/order.key", config.tls.key));
  Acceptor acceptor(log, clock);
  HandshakeLog handshakes(log, clock, &acceptor);
  ASSIGN_OR_RETURN(const auto tokens, OpenTokens(config, *store, state, secrets, clock, log));
  const auto munge = MungeAuthenticator::Open(config.munge_socket, config.tls.certificate, log,
                                              &handshakes, tokens.get());
  UserBudget budget(config.budget, config.policy.operator_uid, clock);
  AccessRules access(clock, config.access);
  const Gate gate(log, config.tls.revoked, munge.get(), config.least_uid(), &acceptor, &budget,
                  tokens.get(), &access);
  AgentSessions sessions(log);
  Controller controller(*store, sessions, clock, log,
                        {config.policy, config.cluster, std::move(secrets)});
  RETURN_IF_ERROR(Begin(config, *store, controller));
  LiveUsage usage;
  AgentService agents(controller, sessions, {config.cluster, clock, gate, *signer, usage});
  ClientService clients(
      controller, *accounting, *store,
      {config.cluster, gate, usage, tokens.get(), &sessions.questions(), config.tls.certificate,
       config.retention.DirectoryOf(*store), config.prices});
  FramedDoor frames(FramesFor(clients), StreamsFor(clients));
  RETURN_IF_ERROR(frames.Start());
  LeadershipService leadership(controller, gate, config.name);
  const std::vector<grpc::Service*> services = {&agents, &clients, &leadership};
  ASSIGN_OR_RETURN(const std::unique_ptr<Server> server,
                   Server::Start(acceptor, {addresses, config.tls, services, std::move(passed),
                                            munge, config.gateway, &frames}));
  server->Tell(log);
  const auto idle = WatchIdle(config, controller, usage, log);
  const auto alerts = WatchAlerts(config, controller, usage, clients.warnings(), log);
  const Prefetch prefetch(controller, *store, agents.images(), log);
  const TakeSettings take = TakeInto(*tokens, *idle, *alerts, clients.prices(), access, clock, log);
  const auto loop = Compete(config, {*store, controller, *tokens, leadership}, *server, log, take);
  const auto housekeeping = KeepHouse(config, *store, controller, clock, log);
  const absl::Status ended =
      ServeUntilEnd(signals, {config, controller, *server, acceptor, log, manager, take});
  server->Stop();
  controller.Stop();
  return controller.fatal().ok() ? ended : controller.fatal();
}

}  // namespace
}  // namespace muster::daemon

int main(int argc, char** argv) {
  muster::KeepOpenSslToTheEnd();
  const auto config = muster::daemon::ParseConfig(argc, argv);
  if (!config.ok()) {
    std::fprintf(stderr, "musterd: %s\n", std::string(config.status().message()).c_str());
    return muster::daemon::kExitUsage;
  }
  if (config->help) {
    std::fputs(config->help_text.c_str(), stdout);
    return 0;
  }
  muster::IgnoreBrokenPipes();
  muster::daemon::RaiseDescriptorLimit();
  const muster::SystemClock clock;
  const absl::Status status =
      muster::daemon::Run(*config, muster::ServiceManager::FromEnvironment(),
                          muster::Logger::ToStandardError(clock), clock);
  if (!status.ok()) {
    std::fprintf(stderr, "musterd: %s\n", std::string(status.message()).c_str());
    return muster::daemon::ExitCodeOf(status);
  }
  return 0;
}
