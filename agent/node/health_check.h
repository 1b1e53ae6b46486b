#pragma once

// The check of this node's health that the controller ordered: a program beside the kernels, run as
// a child of the agent while nothing else runs here.
//
// A job that arrives meanwhile has the node at once: Yield kills the program with all that it
// started and returns when it is gone. The result of a check is kept until the next one, so that it
// can be reported again after the link broke. Thread promise: the owner of the loop. Invariants:
// (1) one check at a time; (2) each that began is reported once, and again whenever the same one is
// asked for; but of a reboot only that it failed: it is known by the node's next boot id.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class HealthCheck {
 public:
  struct Config {
    std::string program;
    std::vector<std::string> environment;  // what it is started with
    CpuSet cpus;                           // it is bound to; empty: to none
    std::string reboot;                    // what starts the machine again; empty: nothing does
    std::chrono::milliseconds quick_within{120'000};
    std::chrono::milliseconds burn_in_within{45 * 60'000};
  };
  using Done = std::function<void(const HealthReport&)>;

  // All references outlive this object.
  HealthCheck(EventLoop& loop, const Clock& clock, const Logger& log, Config config, Done done);
  HealthCheck(const HealthCheck&) = delete;
  HealthCheck& operator=(const HealthCheck&) = delete;
  ~HealthCheck();

  // Begins the check, instead of another; one that is under way goes on, one that ended is reported
  // again.
  void Begin(std::uint64_t number, HealthKind kind);
  // Gives the node to a job; not what it has been told to reboot.
  void Yield();
  // Not begun: a job has the node.
  void Refuse(std::uint64_t number);
  [[nodiscard]] bool running() const { return pidfd_.valid(); }
  // The newest that ended.
  [[nodiscard]] const std::optional<HealthReport>& last() const { return last_; }

 private:
  absl::Status Start(HealthKind kind);
  void RebootEnded(const std::string& text);
  void Read();
  void Ended();
  void Kill();
  void Close();
  void Tell(HealthOutcome outcome, std::string text, std::vector<HealthFigure> figures = {});

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  const Config config_;
  const Done done_;
  std::uint64_t number_ = 0;
  HealthKind kind_ = HealthKind::kQuick;
  pid_t pid_ = 0;
  UniqueFd pidfd_;
  UniqueFd output_;
  std::string text_;  // the output of the program
  std::optional<EventLoop::TimerId> timer_;
  SteadyTime began_;
  std::optional<HealthReport> last_;
};

}  // namespace muster::agent
