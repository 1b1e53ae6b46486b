#pragma once

// Whether a job's programs still make progress, as far as a sign of theirs changes: the time and
// size of a file, or how often the checkpoint library was called.
//
// A collective that waits for a lost rank hangs without an end; the file of steps does not. The
// time counts from the first look, so that a start which never gets anywhere ends too, and stands
// still while the job is suspended. Thread promise: none; one thread. Invariant: a watch says once
// that it is over.

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/model/value/time.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {

// What is compared between two looks. All zero: there is none yet.
struct ProgressSign {
  std::int64_t changed_ns = 0;  // the file's
  std::int64_t size = 0;
  std::uint64_t file = 0;   // which it is: another file in its place is progress
  std::uint64_t beats = 0;  // of the checkpoint library
  friend bool operator==(const ProgressSign&, const ProgressSign&) = default;
};

class ProgressWatch {
 public:
  explicit ProgressWatch(Duration limit) : limit_(limit) {}

  // How often to look.
  [[nodiscard]] Duration interval() const;

  // `frozen`: since the last look the job was suspended. The text says why it is to end, once.
  std::optional<std::string> Look(const ProgressSign& sign, SteadyTime now, bool frozen);

 private:
  const Duration limit_;
  ProgressSign sign_;
  std::optional<SteadyTime> looked_;
  std::chrono::nanoseconds still_{0};  // for so long nothing has changed
  bool over_ = false;
};

// The sign of a file, which may not be there. Looks, and opens nothing.
ProgressSign SignOfFile(const std::string& path);

}  // namespace muster::agent
