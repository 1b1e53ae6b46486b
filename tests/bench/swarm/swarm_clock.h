#pragma once

// One thread that calls back at given moments, for all agents of the process.
//
// Thread promise: At from any thread; callbacks run on the clock's own, one after the other, and do
// not wait. Invariants: none is called before its moment, or after Stop.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace muster::swarm {

class SwarmClock {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  SwarmClock() : thread_([this] { Run(); }) {}
  ~SwarmClock() { Stop(); }
  SwarmClock(const SwarmClock&) = delete;
  SwarmClock& operator=(const SwarmClock&) = delete;

  void At(Moment moment, std::function<void()> call);
  void In(std::chrono::milliseconds time, std::function<void()> call) {
    At(std::chrono::steady_clock::now() + time, std::move(call));
  }
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Moment, std::function<void()>> calls_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace muster::swarm
