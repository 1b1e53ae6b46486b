#pragma once

// The one writer thread: takes what has gathered while the last fsync went on, and commits it as
// one transaction. Many requests, one fsync.
//
// Thread promise: Push, Reset and depth are safe from any thread and never block on the disk; each
// `done` is called on the writer's thread, in the order of Push, with nothing locked. Invariants:
// (1) a batch is written only if every batch pushed before it since the last Reset was; (2) every
// `done` is called once, the destructor's drain included.
//
// The lock is std::mutex, whose every step ThreadSanitizer sees; absl::Mutex lives in a library
// that is not instrumented, and TSan would call each use of the queue a race.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "daemon/store/job_store.h"
#include "daemon/store/rows/batch.h"

namespace muster::daemon {

class CommitQueue {
 public:
  // `store` must outlive the queue, and no other code may call its Commit meanwhile.
  explicit CommitQueue(JobStore& store);
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;
  // Commits what was pushed, then returns.
  ~CommitQueue();

  // Queues a batch. `done` gets OK once it is durable, Commit's error when it could not be written,
  // kAborted when an earlier one could not. An empty batch is a barrier: its OK says that all
  // before it is durable.
  void Push(Batch batch, std::function<void(absl::Status)> done);

  // After a failure, lets the batches pushed from now on be written again; those pushed before stay
  // kAborted. For the caller that has loaded its state again.
  void Reset();

  // A line about a transaction that takes kSlow or longer, or that has taken as long and is over;
  // each is said once. "": there is none.
  static constexpr std::chrono::seconds kSlow{5};
  std::string TakeNews();

  // Batches pushed whose `done` has not returned.
  [[nodiscard]] std::size_t depth() const;

 private:
  // What was pushed, or a Reset (`done` empty).
  struct Item {
    Batch batch;
    std::function<void(absl::Status)> done;
  };

  void Run();
  std::vector<Item> Take();
  void TakeOldSecrets();
  void CommitAll(std::vector<Item> items);
  void CommitGroup(std::vector<Batch>* batches,
                   std::vector<std::function<void(absl::Status)>>* done);

  JobStore& store_;
  absl::Status failed_;  // the writer's thread only: why batches are refused until a Reset
  std::chrono::steady_clock::time_point old_secrets_taken_ = {};  // the writer's thread only
  mutable std::mutex mutex_;                                      // guards what follows
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::size_t depth_ = 0;
  bool stopping_ = false;
  bool gathering_ = false;                       // the writer waits for no word
  std::size_t entries_ = 0;                      // journal entries taken since it last idled
  std::chrono::steady_clock::time_point began_;  // the last transaction
  std::optional<std::chrono::steady_clock::time_point> writing_since_;
  bool slow_said_ = false;                       // of the transaction that is being written
  std::chrono::steady_clock::duration slow_{0};  // how long the last such took; 0: that was said
  std::thread thread_;
};

}  // namespace muster::daemon
