#pragma once

// The daemons of a personal cluster, kept running: the controller first, then the agents.
//
// Lives on an EventLoop. A daemon that ends before it was ready ends the whole start, with the last
// line of its log; one that ends later is started again after a pause that doubles up to
// kPauseMax. Thread promise: the loop's owner. Invariant: `stopped` is called once, when no child
// is left.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/up/daemon_child.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::cli {

class PersonalCluster {
 public:
  struct Handlers {
    std::function<void()> ready;                        // every daemon is; called once
    std::function<void(const std::string& line)> tell;  // a daemon ended, came back
    std::function<void(absl::Status)> stopped;          // not OK: the start failed
  };

  // `daemons` in the order of their start: the first must be ready before the others begin.
  PersonalCluster(EventLoop& loop, std::vector<DaemonSpec> daemons,
                  std::vector<std::string> environment, Handlers handlers);
  PersonalCluster(const PersonalCluster&) = delete;
  PersonalCluster& operator=(const PersonalCluster&) = delete;
  ~PersonalCluster();

  void Start();
  // SIGTERM to all, SIGKILL after a while to those that stay.
  void Stop();

 private:
  struct Daemon {
    DaemonSpec spec;
    std::optional<DaemonChild> child;
    bool ready = false;      // now
    bool was_ready = false;  // at some time
    std::chrono::milliseconds pause{0};
    SteadyTime started{};
  };

  void StartDaemon(std::size_t index);
  void OnReady(std::size_t index);
  void OnEnd(std::size_t index);
  void OnLate(std::size_t index, pid_t pid);
  void Restart(std::size_t index, const std::string& how);
  void Fail(absl::Status status);
  void KillRest();
  bool AllReady() const;
  bool AnyRunning() const;
  void Forget(Daemon& daemon);

  EventLoop& loop_;
  const std::vector<std::string> environment_;
  const Handlers handlers_;
  const SystemClock clock_;
  std::vector<Daemon> daemons_;
  bool ready_told_ = false;
  bool stopping_ = false;
  bool stopped_ = false;
  absl::Status result_ = absl::OkStatus();
};

}  // namespace muster::cli
