#pragma once

// What is on its way to somebody: tried at once, and again after longer and longer waits.
//
// Thread promise: Add and Outstanding from any thread; deliveries are made on threads of its own.
// Invariants: (1) each delivery ends, by success or after its last try, and is then forgotten; (2)
// at most kWaitingMax wait: for more, Add waits, and with it the reading of events.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::cli {

struct Delivery {
  std::uint64_t event = 0;
  std::string id;  // the same at each try: "here.41.END.mail"
  std::string to;  // an address, or a URL
  // Makes one try. InvalidArgument: no further one would do better.
  std::function<absl::Status()> attempt;
};

class Deliveries {
 public:
  using Waits = std::vector<std::chrono::milliseconds>;
  static constexpr std::size_t kThreads = 4;
  static constexpr std::size_t kWaitingMax = 10'000;
  static Waits UsualWaits();

  // `waits`: between the tries, of which there is one more. `log` outlives it.
  Deliveries(const Logger& log, Waits waits);
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;
  // What has not been delivered is left to the next start.
  ~Deliveries();

  void Add(Delivery delivery);
  // The oldest event with a delivery that has not ended; nothing: all have.
  [[nodiscard]] std::optional<std::uint64_t> Oldest() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Item {
    Delivery delivery;
    std::size_t tries = 0;
  };
  void Work();
  void End(const Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Logger& log_;
  const Waits waits_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::multimap<Moment, Item> waiting_ ABSL_GUARDED_BY(mutex_);
  std::multiset<std::uint64_t> outstanding_ ABSL_GUARDED_BY(mutex_);  // events
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::cli
