#pragma once

// The clients that look at a step that another one watches (`muster attach`): they receive what its
// `muster run` receives from then on.
//
// Thread promise: the loop's thread. Invariants: one that does not take its output is cut off, so
// that it never holds up the step; the end of one ends nothing else.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/step/step_connection.h"
#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/user_space/as_user.h"
#include "scheduler/model/job/step_io.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class AttachedClients {
 public:
  static constexpr std::size_t kMost = 32;

  struct Handlers {
    // Whom they look on at: null when nobody watches the step, or it has ended.
    std::function<StepConnection*()> watched;
    std::function<StepGreeting()> greeting;
    // What one of them types.
    std::function<void(const std::string&)> on_input;
  };

  // REQUIRES: the references outlive it, and so does the connection that is watched.
  AttachedClients(const StepHost& host, const StepPlan& plan, Handlers handlers)
      : host_(host), plan_(plan), handlers_(std::move(handlers)) {}
  AttachedClients(const AttachedClients&) = delete;
  AttachedClients& operator=(const AttachedClients&) = delete;
  ~AttachedClients();

  // Has what the ranks print from now on sent to `io` as well; `input`: what comes back is typed
  // into the terminal. FailedPrecondition when no client watches the step, or it has no terminal;
  // that `io` cannot be reached goes to the log.
  absl::Status Show(const StepIo& io, bool input);
  // The same once the step is opened; false: too many wait for that.
  bool ShowLater(const StepIo& io, bool input);
  // It is.
  void ShowThose();

 private:
  absl::Status Add(absl::StatusOr<Brought> brought, const std::string& token, bool input);
  void Log(const absl::Status& why) const;
  void Drop(const StepConnection* gone);

  const StepHost& host_;
  const StepPlan& plan_;
  const Handlers handlers_;
  std::map<std::uint64_t, std::unique_ptr<UserTask>> connecting_;
  std::uint64_t next_ = 0;
  std::vector<std::pair<StepIo, bool>> early_;  // asked for before the step was opened
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  StepConnection* watched_ = nullptr;
  std::vector<std::unique_ptr<StepConnection>> connections_;
};

}  // namespace muster::agent
