#include "daemon/store/commit_queue.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// A transaction ends at this many journal entries, so that no batch waits long for the next ones.
constexpr std::size_t kEntriesPerTransaction = 8192;
// The log is moved into the file when nothing came for a while, or when it has become this large.
constexpr auto kIdle = absl::Milliseconds(200);
constexpr std::uint64_t kLogBytesIdle = std::uint64_t{1} << 20;
constexpr std::uint64_t kLogBytesMost = std::uint64_t{64} << 20;

}  // namespace

CommitQueue::CommitQueue(JobStore& store) : store_(store), thread_([this] { Run(); }) {}

CommitQueue::~CommitQueue() {
  {
    absl::MutexLock hold(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void CommitQueue::Push(Batch batch, std::function<void(absl::Status)> done) {
  MUSTER_CHECK(done != nullptr);
  absl::MutexLock hold(&mutex_);
  items_.push_back({std::move(batch), std::move(done)});
  ++depth_;
}

void CommitQueue::Reset() {
  absl::MutexLock hold(&mutex_);
  items_.push_back({});
}

std::size_t CommitQueue::depth() const {
  absl::MutexLock hold(&mutex_);
  return depth_;
}

void CommitQueue::Run() {
  while (true) {
    std::vector<Item> items = Take();
    if (!items.empty()) {
      CommitAll(std::move(items));
      // What goes wrong here and matters is told by the next Commit.
      store_.CheckpointAbove(kLogBytesMost).IgnoreError();
      continue;
    }
    absl::MutexLock hold(&mutex_);
    if (stopping_ && items_.empty()) {
      return;
    }
  }
}

// All that has gathered, up to one transaction's worth; nothing when stopping or after idling.
std::vector<CommitQueue::Item> CommitQueue::Take() {
  std::vector<Item> taken;
  bool idle = false;
  {
    absl::MutexLock hold(&mutex_);
    const auto wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stopping_ || !items_.empty();
    };
    idle = !mutex_.AwaitWithTimeout(absl::Condition(&wanted), kIdle);
    std::size_t entries = 0;
    while (!items_.empty() && entries < kEntriesPerTransaction) {
      entries += items_.front().batch.entries.size();
      taken.push_back(std::move(items_.front()));
      items_.pop_front();
    }
  }
  if (idle) {
    store_.CheckpointAbove(kLogBytesIdle).IgnoreError();
  }
  return taken;
}

void CommitQueue::CommitAll(std::vector<Item> items) {
  std::vector<Batch> batches;
  std::vector<std::function<void(absl::Status)>> done;
  for (Item& item : items) {
    if (item.done) {
      batches.push_back(std::move(item.batch));
      done.push_back(std::move(item.done));
      continue;
    }
    CommitGroup(&batches, &done);
    failed_ = absl::OkStatus();
  }
  CommitGroup(&batches, &done);
}

void CommitQueue::CommitGroup(std::vector<Batch>* batches,
                              std::vector<std::function<void(absl::Status)>>* done) {
  absl::Status status;
  if (failed_.ok()) {
    status = store_.Commit(*batches);
    failed_ = status;
  } else {
    status = absl::AbortedError(
        absl::StrCat("not written, for one before it was not: ", std::string(failed_.message())));
  }
  for (const auto& tell : *done) {
    tell(status);
    absl::MutexLock hold(&mutex_);
    --depth_;
  }
  batches->clear();
  done->clear();
}

}  // namespace muster
