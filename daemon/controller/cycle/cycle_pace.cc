#include "daemon/controller/cycle/cycle_pace.h"

#include <algorithm>

namespace muster::daemon {

CyclePace::Clock::time_point CyclePace::next() const {
  using std::chrono::nanoseconds;
  constexpr int kPart = 2;       // of the time
  constexpr int kFullPart = 16;  // while all that a cycle finds is why jobs wait
  const bool no_hurry = only_new_ && full_;
  const nanoseconds least = no_hurry ? nanoseconds(kFullFloor) : nanoseconds(kFloor);
  return began_ + std::clamp(work_ * (no_hurry ? kFullPart : kPart), least, nanoseconds(kLongest));
}

}  // namespace muster::daemon
