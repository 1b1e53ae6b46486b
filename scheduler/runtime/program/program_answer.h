#pragma once

// What a program that we run says, within a time.
//
// Thread promise: safe from any thread; waits. Invariant: when it returns, the program has ended
// and has been reaped; of one that was too slow, all of its session was killed.

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/process.h"

namespace muster {

enum class AnswerStreams { kOutput, kBoth };  // kBoth: its standard error, too

struct ProgramAnswer {
  std::string text;      // at most 1 MiB of it
  bool success = false;  // it said all that it had to say, and ended with 0
  bool late = false;     // it was killed when `patience` was over
};

// Runs it in a session of its own, with nothing to read; after `patience` it is killed. An error:
// it could not be started.
absl::StatusOr<ProgramAnswer> AnswerOf(SpawnRequest request, AnswerStreams streams,
                                       std::chrono::milliseconds patience);

}  // namespace muster
