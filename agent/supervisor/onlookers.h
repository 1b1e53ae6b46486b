#pragma once

// Those who look at a step that another watches (`muster attach`): they are sent what its `muster
// run` is sent from then on.
//
// Thread promise: the loop's thread. Invariants: one that does not take its output is cut off, so
// that it never holds up the step; nobody's leaving ends anything.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/step_connection.h"
#include "scheduler/runtime/event_loop.h"

namespace muster {

class Onlookers {
 public:
  static constexpr std::size_t kMost = 32;

  explicit Onlookers(EventLoop& loop) : loop_(loop) {}
  Onlookers(const Onlookers&) = delete;
  Onlookers& operator=(const Onlookers&) = delete;
  ~Onlookers();

  // Connects to `io` and greets; from then on it has copies of what `watched` is sent. `on_input`:
  // what to do with what comes back. REQUIRES: `watched` is the same each time, and outlives this.
  absl::Status Add(StepConnection& watched, const StepIo& io, const StepGreeting& greeting,
                   std::function<void(const std::string&)> on_input);
  // All that they were to be told is on its way.
  [[nodiscard]] bool Flushed() const;

 private:
  void Drop(const StepConnection* gone);

  EventLoop& loop_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  StepConnection* watched_ = nullptr;
  std::vector<std::unique_ptr<StepConnection>> connections_;
};

}  // namespace muster
