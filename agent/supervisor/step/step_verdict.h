#pragma once

// How a step ends here: its status, why, and what the end of each rank means for the others.
//
// Thread promise: none; one thread. Invariants: (1) the first failure's status is the step's; (2)
// of a step that breaks one rank at most is the culprit; (3) what ends after the step was ordered
// to end breaks nothing.

#include <cstdint>
#include <optional>
#include <string>

#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/step/step_connection.h"
#include "scheduler/model/job/exit_status.h"

namespace muster::agent {

class StepVerdict {
 public:
  // What an ended rank had of MPI.
  struct MpiPart {
    bool joined = false;       // and did not finalize
    bool ever_joined = false;  // at some time
  };

  // A rank could not be started, or what was to restore it failed with `code`.
  void TakeLaunchFailure(const std::string& text);
  void TakeRestoreFailure(int code) { restore_failure_ = code; }
  // What else there is to say of why a rank failed, and where.
  void TakeRemark(const std::string& text);
  void TakeStatus(ExitStatus status);
  // It is ordered to end.
  void Terminate() { terminating_ = true; }
  // The whole attempt is, here and elsewhere; `by_others`: for what happened on other nodes.
  void TellToEnd(bool by_others);
  // The end of that rank is the end of all.
  void BreakBy(std::uint32_t rank);
  // It called MPI_Abort.
  void Abort(std::uint32_t rank, int code);
  // The ranks here cannot go on, for a reason on another node.
  void TakeBreak(const StepBreak& why);

  // No value of `mpi`: the step has none. `own`: the rank could not be started.
  [[nodiscard]] ExitMeaning MeaningOf(std::uint32_t rank, ExitStatus status, bool own,
                                      const std::optional<MpiPart>& mpi) const;

  [[nodiscard]] bool terminating() const { return terminating_; }
  // See TellToEnd.
  [[nodiscard]] bool told() const { return told_; }
  [[nodiscard]] bool broken() const { return broken_; }
  // Why a rank could not be started; empty when all were.
  [[nodiscard]] const std::string& launch_error() const { return launch_error_; }
  [[nodiscard]] const std::string& remark() const { return remark_; }
  // With what code it ended whose work was to restore the ranks; 0: it did, or there was none.
  [[nodiscard]] int restore_failure() const { return restore_failure_; }
  // Of the first rank that failed, else success.
  [[nodiscard]] ExitStatus status() const { return status_; }

 private:
  std::string launch_error_;
  std::string remark_;
  int restore_failure_ = 0;
  ExitStatus status_;
  bool terminating_ = false;
  bool told_ = false;
  bool ended_by_others_ = false;
  bool broken_ = false;
  std::optional<std::uint32_t> culprit_;  // where it is here
  bool aborted_ = false;                  // it called MPI_Abort
};

// With what code a step ends whose rank aborted with `code`: never 0.
int AbortCode(int code);

}  // namespace muster::agent
