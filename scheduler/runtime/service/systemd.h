#pragma once

// The service manager that started this process (systemd), or none: this process reports to it that
// it is ready and alive, and it may have opened our sockets (sd_notify(3), sd_watchdog_enabled(3),
// sd_listen_fds(3)).
//
// Without one every method does nothing, so that a daemon is written as if there always were one.
// Thread promise: FromEnvironment in main, before threads; the rest from any thread. Invariant:
// nothing that the manager passed for this process alone reaches a child: see IsOurs().

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/runtime/unique_fd.h"

namespace muster {

class ServiceManager {
 public:
  // What the manager passed in our environment and as descriptors, which close on exec.
  static ServiceManager FromEnvironment();
  // None.
  ServiceManager() = default;

  // We serve; what depends on us may start. `status` is a line for `systemctl status`.
  void Ready(const std::string& status) const;
  // Where we are, at any time.
  void Status(const std::string& status) const;
  // Settings are being read again, until Ready is sent.
  void Reloading() const;
  void Stopping() const;
  // We are alive; to be sent at least each feed_every().
  void Alive() const;

  // Half of the time after which silence is taken for a hang; zero: it does not watch.
  [[nodiscard]] std::chrono::milliseconds feed_every() const { return feed_every_; }
  // Sockets that the manager listens on for us; the second call has none.
  std::vector<UniqueFd> TakeListeners() { return std::move(listeners_); }

  // Whether a variable ("NAME=value" or its name) is between a service manager and one process.
  static bool IsOurs(std::string_view variable);

 private:
  void Say(const std::string& text) const;

  bool present_ = false;
  std::chrono::milliseconds feed_every_{0};
  std::vector<UniqueFd> listeners_;
};

}  // namespace muster
