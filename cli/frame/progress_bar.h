#pragma once

// A line on a terminal that says how far something long has come, how fast it is, what is left.
//
// Nothing is drawn on anything but a terminal, nor in the first two seconds, nor more often than
// five times a second. Thread promise: a value; one thread at a time. Invariants: the line is wiped
// before anything else is written (Wipe).

#include <cstdint>
#include <string>

#include "scheduler/runtime/clock.h"

namespace muster::cli {

class ProgressBar {
 public:
  // Draws on file descriptor `fd`.
  ProgressBar(std::string what, std::string unit, const Clock& clock, int fd);

  // `share` is 0 to 1, or negative where it is not known; `done` is how many of the unit.
  void Show(double share, std::uint64_t done);
  void Wipe();

 private:
  std::string what_;
  std::string unit_;
  const Clock& clock_;
  int fd_;
  bool on_terminal_;
  bool drawn_ = false;
  SteadyTime begun_;
  SteadyTime next_;
};

// The line itself: "simulate  [#####.....]  50 %, 400000 jobs, 200000 jobs/s, 2 s left".
std::string ProgressLine(const std::string& what, const std::string& unit, double share,
                         std::uint64_t done, double seconds);

}  // namespace muster::cli
