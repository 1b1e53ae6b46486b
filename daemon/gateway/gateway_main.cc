// muster-gateway: wiring only.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/gateway/config.h"
#include "daemon/gateway/gateway.h"
#include "daemon/gateway/rest/open_api.h"
#include "daemon/gateway/stream/event_hub.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/service/systemd.h"
#include "scheduler/runtime/signals.h"

namespace muster::daemon {
namespace {

constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;
constexpr std::chrono::seconds kBeat{15};

absl::StatusOr<std::optional<http::TlsText>> ReadTls(const GatewayConfig& config) {
  if (!config.tls()) {
    return std::optional<http::TlsText>();
  }
  HideMemory();  // our key is in it
  ASSIGN_OR_RETURN(std::string certificates, ReadFile(config.tls_certificate));
  ASSIGN_OR_RETURN(std::string key, ReadPrivateFile(config.tls_key));
  return std::optional(http::TlsText{std::move(certificates), std::move(key)});
}

// What to listen on: what is passed, and what the settings say; the default where neither does.
absl::StatusOr<std::vector<UniqueFd>> Sockets(const GatewayConfig& config,
                                              std::vector<UniqueFd> sockets) {
  if (config.listen_fd >= 0) {
    fcntl(config.listen_fd, F_SETFD, FD_CLOEXEC);
    sockets.emplace_back(config.listen_fd);
  }
  std::vector<std::string> addresses = config.listen;
  if (addresses.empty() && sockets.empty()) {
    addresses.emplace_back(kGatewayListenDefault);
  }
  for (const std::string& address : addresses) {
    ASSIGN_OR_RETURN(UniqueFd socket, http::ListenTcp(address));
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

// A connection is a descriptor; the default of 1,024 is less than our own limit.
void TakeAllDescriptors() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int AwaitSignal(const UniqueFd& signals) {
  while (true) {
    pollfd waits = {signals.get(), POLLIN, 0};
    poll(&waits, 1, -1);
    const absl::StatusOr<std::optional<SignalEvent>> event = NextSignal(signals);
    if (!event.ok() || event->has_value()) {
      return event.ok() ? (*event)->number : 0;
    }
  }
}

absl::Status Run(const GatewayConfig& config, ServiceManager manager, const Logger& log,
                 const Clock& clock) {
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGTERM, SIGINT}));
  ASSIGN_OR_RETURN(const auto link, ControllerLink::Open(config.controller, config.authority));
  ASSIGN_OR_RETURN(const std::optional<http::TlsText> tls, ReadTls(config));
  ASSIGN_OR_RETURN(std::vector<UniqueFd> sockets, Sockets(config, manager.TakeListeners()));
  WebSessions sessions(config.links, clock);
  Gateway gateway(*link, sessions, MUSTER_VERSION);
  ASSIGN_OR_RETURN(
      const auto server,
      http::Server::Create(
          config.limits, tls,
          {[&gateway](const http::Request& head) { return gateway.Screen(head); },
           [&gateway](const http::Request& request, std::shared_ptr<http::ReplyPath> reply) {
             gateway.Serve(request, std::move(reply));
           },
           [&gateway](const http::Request& head, http::Handlers::Verdict verdict) {
             gateway.Judge(head, std::move(verdict));
           }},
          clock));
  gateway.NoteCertificateEnd(server->CertificateEnd());
  for (UniqueFd& socket : sockets) {
    const std::string address = http::AddressOf(socket);
    RETURN_IF_ERROR(CheckListen(address, config.tls()));
    RETURN_IF_ERROR(server->Listen(std::move(socket)));
    log.Info("gateway", absl::StrCat(config.tls() ? "https://" : "http://", address, "/"));
  }
  (void)link->Connected();  // begins to connect
  SayReady(config.ready_fd);
  manager.Ready("serving");
  server->Every(kBeat, [&gateway] { gateway.Beat(); });
  server->Every(EventHub::kReleaseEvery, [&gateway] { gateway.ReleaseEvents(); });
  if (manager.feed_every().count() > 0) {
    server->Every(manager.feed_every(), [&manager] { manager.Alive(); });
  }
  std::thread serves([&server] { server->Run(); });
  log.Info("gateway", absl::StrCat("signal ", AwaitSignal(signals), ": stopping"));
  server->Stop();
  serves.join();
  manager.Stopping();
  link->Close();  // its answers go to the server, which is still there
  return absl::OkStatus();
}

}  // namespace
}  // namespace muster::daemon

int main(int argc, char** argv) {
  muster::KeepOpenSslToTheEnd();
  const absl::StatusOr<muster::daemon::GatewayConfig> config =
      muster::daemon::ParseGatewayConfig(argc, argv);
  if (!config.ok()) {
    std::fprintf(stderr, "muster-gateway: %s\n", std::string(config.status().message()).c_str());
    return muster::daemon::kExitUsage;
  }
  if (config->help || config->print_open_api) {
    std::fputs(config->help ? config->help_text.c_str()
                            : muster::daemon::MakeOpenApi(MUSTER_VERSION).c_str(),
               stdout);
    return 0;
  }
  muster::IgnoreBrokenPipes();
  muster::daemon::TakeAllDescriptors();
  const muster::SystemClock clock;
  const absl::Status status =
      muster::daemon::Run(*config, muster::ServiceManager::FromEnvironment(),
                          muster::Logger::ToStandardError(clock), clock);
  if (!status.ok()) {
    std::fprintf(stderr, "muster-gateway: %s\n", std::string(status.message()).c_str());
    return absl::IsInvalidArgument(status) ? muster::daemon::kExitUsage
                                           : muster::daemon::kExitRefused;
  }
  return 0;
}
