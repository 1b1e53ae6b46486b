#include "daemon/serving.h"

#include <poll.h>

#include <csignal>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/policy_file.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/signals.h"

namespace muster {
namespace {

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

}  // namespace

absl::Status ServeUntilEnd(const UniqueFd& signals, const DaemonConfig& config,
                           Controller& controller, const Logger& log,
                           const ServiceManager& manager) {
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

}  // namespace muster
