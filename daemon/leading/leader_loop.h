#pragma once

// The thread that sees to it that one of the cluster's controllers leads, and which.
//
// As a standby it reads the journal as it grows and gives it to the controller; when the leader's
// lease is over, it takes the lead, reads the rest, and has the controller begin an epoch. As the
// leader it renews its lease. Thread promise: status and HandOver from any thread. Invariants:
// (1) the controller leads only after the store has given us the lead and every entry before it was
// applied; (2) the destructor ends the lease, so that another may lead at once.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "daemon/controller/controller.h"
#include "daemon/leading/lead_turns.h"
#include "daemon/store/database/database.h"
#include "daemon/store/job_store.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// Who leads, as one controller knows it.
struct LeadStatus {
  std::string name;  // of that controller
  bool leads = false;
  std::string leader;                // empty: nobody that it knows of
  std::string leader_addresses;      // by commas
  std::chrono::milliseconds age{0};  // what a standby shows was so long ago at most
};

class LeaderLoop {
 public:
  struct Settings {
    std::string name;       // ours, which no other controller of the cluster has
    std::string addresses;  // ours, by commas
    std::chrono::milliseconds lease{2000};
    // Reads again what else controllers share: as a standby now and then, and before it leads.
    std::function<absl::Status()> refresh = [] { return absl::OkStatus(); };
  };
  // `led` is called once each time the controller has begun to lead. All that is referred to
  // outlives the loop. REQUIRES: the store has a leader's row, the controller follows.
  LeaderLoop(JobStore& store, Controller& controller, const Logger& log, Settings settings,
             std::function<void()> led);
  LeaderLoop(const LeaderLoop&) = delete;
  LeaderLoop& operator=(const LeaderLoop&) = delete;
  ~LeaderLoop();

  [[nodiscard]] LeadStatus status() const;
  // Has the controller lead no more, and `to` ("": any standby) take over. FailedPrecondition when
  // it does not lead.
  absl::Status HandOver(const std::string& to);

 private:
  using Steady = std::chrono::steady_clock;
  void Run();
  // Makes the move of turns_.
  LeadOutcome Make();
  LeadOutcome Hold();
  absl::Status ReadRow(LeaderRow* row);
  absl::Status CatchUp();
  absl::Status Begin();
  absl::Status StepDown();
  void Complain(const absl::Status& status);
  void Pause(std::chrono::milliseconds time);

  JobStore& store_;
  Controller& controller_;
  const Logger& log_;
  const Settings settings_;
  const std::function<void()> led_;

  // Of the loop's thread.
  std::unique_ptr<Database> reader_;
  LeadTurns turns_;
  std::string complained_;  // the trouble that was logged

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  bool hand_over_ = false;
  std::string successor_;
  LeaderRow row_;
  Steady::time_point current_ = Steady::now();
  std::thread thread_;
};

}  // namespace muster::daemon
