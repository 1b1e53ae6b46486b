// muster-notifier: wiring only.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "cli/frame/environment.h"
#include "cli/notify/http_post.h"
#include "cli/notify/notifier.h"
#include "cli/notify/notifier_config.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mac.h"
#include "scheduler/runtime/service/systemd.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr int kExitRefused = 1;
constexpr int kExitUsage = 2;
constexpr std::size_t kKeyBytes = 32;

// The site's key, made at the first start.
absl::StatusOr<std::string> OpenSiteKey(const std::string& path) {
  absl::StatusOr<std::string> key = ReadPrivateFile(path);
  if (!absl::IsNotFound(key.status())) {
    return key;
  }
  ASSIGN_OR_RETURN(std::string made, RandomBytes(kKeyBytes));
  RETURN_IF_ERROR(WriteFileAtomically(path, made));
  return made;
}

absl::Status Run(const NotifierConfig& config, const Environment& environment,
                 const ServiceManager& manager, const Logger& log, const Clock& clock) {
  RETURN_IF_ERROR(EnsurePrivateDirectory(config.state));
  ASSIGN_OR_RETURN(const std::string key, OpenSiteKey(config.state + "/webhook.key"));
  if (!config.key_of.empty()) {
    std::printf("%s\n", WebhookSecretText(WebhookKeyOf(key, config.key_of)).c_str());
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Address address, ControllerAddress(config.controller, "", environment));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(NotifierState state, ReadNotifierState(config.state + "/state.json"));
  Notifier notifier(config, address, *connection, key, std::move(state), clock, log);
  return notifier.Run([&config, &manager] {
    if (config.ready_fd >= 0) {
      [[maybe_unused]] const ssize_t written = write(config.ready_fd, "ready\n", 6);
      close(config.ready_fd);
    }
    manager.Ready("reading events");
  });
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) {
  const muster::cli::Environment environment = muster::cli::Environment::Copy(environ);
  muster::cli::QuietGrpc();
  muster::KeepOpenSslToTheEnd();
  const absl::StatusOr<muster::cli::NotifierConfig> config =
      muster::cli::ParseNotifierConfig(argc, argv);
  if (!config.ok()) {
    std::fprintf(stderr, "muster-notifier: %s\n", std::string(config.status().message()).c_str());
    return muster::cli::kExitUsage;
  }
  if (config->help) {
    std::fputs(config->help_text.c_str(), stdout);
    return 0;
  }
  muster::IgnoreBrokenPipes();
  muster::cli::StartHttp();
  const muster::SystemClock clock;
  const absl::Status status =
      muster::cli::Run(*config, environment, muster::ServiceManager::FromEnvironment(),
                       muster::Logger::ToStandardError(clock), clock);
  if (!status.ok()) {
    std::fprintf(stderr, "muster-notifier: %s\n", std::string(status.message()).c_str());
    return absl::IsInvalidArgument(status) ? muster::cli::kExitUsage : muster::cli::kExitRefused;
  }
  return 0;
}
