#pragma once

// How far the end of an attempt's part on a node has got, and what the report of it will say.
//
// The parts of the supervisor read here whether they may still act. Thread promise: none; one
// thread. Invariants: (1) the first cause stands, whatever is ordered later; (2) nothing takes an
// end back; (3) the status is the main step's, and success where there is none.

#include <optional>
#include <string>

#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

class EndState {
 public:
  // An order to end, from outside or from here. True: it is the first.
  bool Force(EndCause cause, const std::string& text);
  // The main step has ended by itself, and what it left follows.
  void EndByItself() { ending_ = true; }
  // The main step has ended; `failure` says why it could not be started, `remark` what else there
  // is to say. Who was ordered to end needs no word.
  void TakeMainStep(ExitStatus status, const std::string& failure, const std::string& remark,
                    SteadyTime now);
  // A container could not be saved: what ended well has failed.
  void TakeSaveFailure(const std::string& text) { save_failure_ = text; }
  // More of why it ended as it did.
  void Explain(const std::string& text);
  // The kernel killed a process of it for want of memory: that explains a failure.
  void TakeOutOfMemory(const std::string& text);
  // Something of the site's failed here: the first fault is told.
  void RecordNodeFault(const std::string& fault);
  // Nothing is left but what the site runs after it.
  void SetEpilog(bool runs) { in_epilog_ = runs; }
  void Finish() { finished_ = true; }

  // It ends, for whatever reason.
  [[nodiscard]] bool ending() const { return ending_; }
  // It was ordered to end.
  [[nodiscard]] bool forced() const { return forced_; }
  // All is over.
  [[nodiscard]] bool finished() const { return finished_; }
  // Nothing of the job itself is left to be ended.
  [[nodiscard]] bool job_over() const { return finished_ || in_epilog_; }
  [[nodiscard]] const ExitStatus& status() const { return status_; }
  // When the main step ended.
  [[nodiscard]] std::optional<SteadyTime> main_ended() const { return main_ended_; }
  [[nodiscard]] const std::string& node_fault() const { return node_fault_; }
  // The report, for one who used that much.
  [[nodiscard]] RunEnded Report(Time now, const Usage& usage) const;

 private:
  bool ending_ = false;
  bool forced_ = false;
  bool in_epilog_ = false;
  bool finished_ = false;
  EndCause cause_ = EndCause::kExited;
  ExitStatus status_;
  std::string text_;
  std::string node_fault_;
  std::string save_failure_;
  std::optional<SteadyTime> main_ended_;
};

// Ordered to end for that cause, an attempt is not over with its checkpoint unless that was all
// that was wanted of it: it may have more to do within its grace when it was cancelled, or when its
// time is up and it does not run again.
bool EndsWithItsCheckpoint(EndCause cause, const JobSpec& spec);

}  // namespace muster::agent
