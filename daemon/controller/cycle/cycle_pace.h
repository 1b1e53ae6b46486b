#pragma once

// When the next scheduling cycle may begin: at once after a rest, and while jobs flow as often as
// leaves time for everything else.
//
// What comes in meanwhile is looked at together. Thread promise: none; the controller's loop owns
// it. Invariants: (1) no wish for a cycle waits longer than kLongest; (2) cycles take half of the
// time at most, unless one takes longer than kLongest by itself.

#include <chrono>

namespace muster::daemon {

class CyclePace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kFloor{4};       // between the beginnings of two
  static constexpr std::chrono::milliseconds kFullFloor{50};  // while no job could start
  static constexpr std::chrono::seconds kLongest{1};

  // A cycle is wanted: something ended, came back or changed.
  void Want() {
    wanted_ = true;
    only_new_ = false;
  }
  // A cycle is wanted for a job that has just been submitted, and for nothing else.
  void WantForNew() {
    only_new_ = wanted_ ? only_new_ : true;
    wanted_ = true;
  }
  void Unwant() { wanted_ = false; }
  [[nodiscard]] bool wanted() const { return wanted_; }

  // The cycle that is wanted begins.
  void Begin(Clock::time_point now) {
    began_ = now;
    wanted_ = false;
  }
  // It took so much work; `full`: it leaves no processor free.
  void End(std::chrono::nanoseconds work, bool full) {
    work_ = work;
    full_ = full;
  }
  // From when on the wanted one may begin.
  [[nodiscard]] Clock::time_point next() const;

 private:
  bool wanted_ = true;
  bool only_new_ = false;
  bool full_ = false;
  std::chrono::nanoseconds work_{0};
  Clock::time_point began_;
};

}  // namespace muster::daemon
