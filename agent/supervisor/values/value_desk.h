#pragma once

// Takes what the attempt's programs say of their progress: one datagram of NAME=VALUE words each,
// on a socket that the job's user may reach.
//
// What is known goes into a file of the attempt's directory, from which the agent takes it along
// with its samples. Thread promise: the loop's thread. Invariants: (1) nothing is answered, and
// what cannot be read is dropped; (2) at most kBurst datagrams at once and kEachSecond after that
// are read: more stay in the kernel's queue, where a sender finds no room; (3) the file is written
// at most once in kWriteEvery.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "agent/supervisor/user_space/job_user.h"
#include "agent/supervisor/values/value_watch.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class ValueDesk {
 public:
  static constexpr int kBurst = 100;
  static constexpr int kEachSecond = 50;
  static constexpr std::chrono::seconds kWriteEvery{1};

  struct Host {
    EventLoop& loop;
    const Clock& clock;
    std::string socket;             // path
    std::string file;               // "
    const JobUser* user = nullptr;  // as whom the job runs; null: as we do
  };

  static absl::StatusOr<std::unique_ptr<ValueDesk>> Open(Host host);
  ValueDesk(const ValueDesk&) = delete;
  ValueDesk& operator=(const ValueDesk&) = delete;
  ~ValueDesk();

  // What is wrong besides what the programs say; none: nothing any more.
  void Note(std::optional<ReportedFinding> finding);

 private:
  ValueDesk(Host host, UniqueFd socket);
  absl::Status Listen();
  void Read();
  bool ReadOne();
  void Rest();
  void WriteLater();
  void Write();

  const Host host_;
  UniqueFd socket_;
  ValueWatch watch_;
  std::optional<ReportedFinding> noted_;
  int room_ = kBurst;  // datagrams that may still be read
  bool refilling_ = false;
  bool writing_ = false;
  OwnTimers timers_;
};

}  // namespace muster::agent
