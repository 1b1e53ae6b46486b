#pragma once

// The clients that look at a step that another one watches (`muster attach`): they receive what its
// `muster run` receives from then on.
//
// Thread promise: the loop's thread. Invariants: one that does not take its output is cut off, so
// that it never holds up the step; the end of one ends nothing else.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/step/step_connection.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

class Onlookers {
 public:
  static constexpr std::size_t kMost = 32;

  Onlookers(EventLoop& loop, ClosingSockets& closing) : loop_(loop), closing_(closing) {}
  Onlookers(const Onlookers&) = delete;
  Onlookers& operator=(const Onlookers&) = delete;
  ~Onlookers();

  // Whether no place is left, with `coming` that are about to connect.
  [[nodiscard]] bool full(std::size_t coming) const {
    return connections_.size() + coming >= kMost;
  }
  // Greets over `socket`, with `token`; from then on it has copies of what `watched` is sent.
  // `on_input`: what to do with what comes back. REQUIRES: `watched` is the same each time, and
  // outlives this.
  absl::Status Add(StepConnection& watched, UniqueFd socket, const std::string& token,
                   const StepGreeting& greeting, std::function<void(const std::string&)> on_input);

 private:
  void Drop(const StepConnection* gone);

  EventLoop& loop_;
  ClosingSockets& closing_;
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  StepConnection* watched_ = nullptr;
  std::vector<std::unique_ptr<StepConnection>> connections_;
};

}  // namespace muster
