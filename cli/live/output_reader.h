#pragma once

// Reads the output of a job piece by piece, to its end or as long as it grows.
//
// Thread promise: the caller's thread, which waits. Invariants: (1) nothing is asked for before
// what came last was taken, so a slow reader costs no memory; (2) bytes come in the order of
// the file, each once, unless the file was cut or replaced, and then from its beginning.

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/request/job_questions.h"

namespace muster::cli {

class OutputReader {
 public:
  struct Ways {
    // One call of the controller.
    std::function<absl::StatusOr<OutputPiece>(const ReadOutput& asked)> ask;
    // Takes what has come; false: that is enough.
    std::function<bool(const OutputPiece& piece)> take;
    // Says, while it follows, what it waits for, and that the file was replaced; each once.
    std::function<void(const std::string& line)> tell;
    std::function<void(std::chrono::milliseconds)> sleep;
  };

  OutputReader(ReadOutput first, Ways ways) : next_(std::move(first)), ways_(std::move(ways)) {}

  // What is there now. FailedPrecondition when the job has not begun.
  absl::Status ReadToEnd();
  // What is there and what comes, until the job, or the step, has ended. A controller that goes
  // away is waited for, a minute long.
  absl::Status Follow();

  static constexpr std::chrono::milliseconds kPauseLeast{200};
  static constexpr std::chrono::milliseconds kPauseMost{1000};
  static constexpr std::chrono::milliseconds kAwayMost{60'000};

 private:
  // Takes a piece; false: enough.
  bool Take(const OutputPiece& piece);
  absl::StatusOr<OutputPiece> AskPatiently();
  void Tell(const std::string& line);

  ReadOutput next_;
  const Ways ways_;
  std::string told_;
};

}  // namespace muster::cli
