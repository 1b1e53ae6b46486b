#include "daemon/serve/serving.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/door/listening_socket.h"
#include "daemon/serve/door_probe.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/identity/expiry_watch.h"
#include "scheduler/runtime/signals.h"

namespace muster::daemon {
namespace {

constexpr int kLookEveryMs = 3'600'000;

// Says that we live, once the controller's loop and the store's writer have both come round.
void ProveLife(Controller& controller, const ServiceManager& manager) {
  controller.Look([&manager](const StateView&) {
    return [&manager](const absl::Status&) { manager.Alive(); };
  });
}

// Whether every address answers, or cannot be expected to.
bool DoorsAnswer(const DaemonConfig& config, const Server& server, const Acceptor& acceptor,
                 const Logger& log) {
  for (const std::string& address : server.addresses()) {
    const std::uint64_t before = acceptor.counts().turned_away;
    const absl::Status answered = AskDoor(address, config.tls);
    const bool busy = !IsUnix(address) && acceptor.counts().turned_away != before;
    if (!answered.ok()) {
      log.Warning("musterd", absl::StrCat(std::string(answered.message()),
                                          busy ? "; it is turning strangers away" : ""));
    }
    if (!answered.ok() && !busy) {
      return false;
    }
  }
  return true;
}

void Reload(const DaemonConfig& config, Controller& controller, const Logger& log,
            const ServiceManager& manager, const TakeSettings& take) {
  manager.Reloading();
  ReloadPolicy(config.file, config.network, controller, log, take);
  manager.Ready("serving");
}

}  // namespace

int ExitCodeOf(const absl::Status& status) {
  constexpr int kRefused = 1;
  constexpr int kStoreLost = 74;
  return absl::IsDataLoss(status)          ? kStoreLost
         : absl::IsInvalidArgument(status) ? kExitUsage
                                           : kRefused;
}

namespace {

absl::Status AwaitEnd(const UniqueFd& signals, const Serving& serving) {
  const auto& [config, controller, server, acceptor, log, manager, take] = serving;
  const bool fed = manager.feed_every().count() > 0;
  const SystemClock clock;
  ExpiryWatch expiry(config.tls.certificate, clock.Now());
  while (true) {
    pollfd ready{signals.get(), POLLIN, 0};
    const int found =
        poll(&ready, 1, fed ? static_cast<int>(manager.feed_every().count()) : kLookEveryMs);
    if (const std::string warning = expiry.Look(clock.Now()); !warning.empty()) {
      log.Warning("access", warning);
    }
    if (found == 0) {
      if (fed && DoorsAnswer(config, server, acceptor, log)) {
        ProveLife(controller, manager);
      }
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<SignalEvent> event, NextSignal(signals));
    if (event.has_value() && event->number == SIGHUP) {
      Reload(config, controller, log, manager, take);
    } else if (event.has_value()) {
      log.Info("musterd", absl::StrCat("signal ", event->number, ": stopping; jobs go on"));
      return absl::OkStatus();
    }
  }
}

}  // namespace

absl::Status ServeUntilEnd(const UniqueFd& signals, const Serving& serving) {
  SayReady(serving.config.ready_fd);
  serving.manager.Ready("serving");
  absl::Status ended = AwaitEnd(signals, serving);
  serving.manager.Stopping();
  return ended;
}

}  // namespace muster::daemon
