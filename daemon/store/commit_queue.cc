#include "daemon/store/commit_queue.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// A transaction ends at this many journal entries, so that no batch waits long for the next ones.
constexpr std::size_t kEntriesPerTransaction = 8192;
// The log is moved into the file when nothing came for a while, or when it has become this large.
constexpr auto kIdle = std::chrono::milliseconds(200);
constexpr std::uint64_t kLogBytesIdle = std::uint64_t{1} << 20;
constexpr std::uint64_t kLogBytesMost = std::uint64_t{64} << 20;
// Between the beginnings of two transactions: what comes one by one is gathered. The first after a
// rest does not wait.
constexpr auto kFloor = std::chrono::milliseconds(1);
constexpr std::size_t kManyEntries = 4096;
// Between pieces of what an older schema left, while there is always something to commit.
constexpr auto kOldSecretsEvery = std::chrono::milliseconds(500);

}  // namespace

CommitQueue::CommitQueue(JobStore& store) : store_(store), thread_([this] { Run(); }) {}

CommitQueue::~CommitQueue() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void CommitQueue::Push(Batch batch, std::function<void(absl::Status)> done) {
  MUSTER_CHECK(done != nullptr);
  const std::lock_guard hold(mutex_);
  items_.push_back({std::move(batch), std::move(done)});
  ++depth_;
  if (!gathering_) {
    changed_.notify_one();
  }
}

void CommitQueue::Reset() {
  const std::lock_guard hold(mutex_);
  items_.push_back({});
  changed_.notify_one();
}

std::string CommitQueue::TakeNews() {
  const auto seconds = [](std::chrono::steady_clock::duration time) {
    return std::chrono::floor<std::chrono::seconds>(time).count();
  };
  const std::lock_guard hold(mutex_);
  if (slow_ != std::chrono::steady_clock::duration(0)) {
    return absl::StrCat("the journal is written again; one write took ",
                        seconds(std::exchange(slow_, {})), " s");
  }
  const auto now = std::chrono::steady_clock::now();
  if (!writing_since_.has_value() || slow_said_ || now - *writing_since_ < kSlow) {
    return "";
  }
  slow_said_ = true;
  return absl::StrCat("a write of the journal has taken ", seconds(now - *writing_since_),
                      " s and goes on: its disk is slow or hangs; nothing is answered meanwhile");
}

std::size_t CommitQueue::depth() const {
  const std::lock_guard hold(mutex_);
  return depth_;
}

void CommitQueue::Run() {
  while (true) {
    std::vector<Item> items = Take();
    if (!items.empty()) {
      CommitAll(std::move(items));
      // What goes wrong here and matters is told by the next Commit.
      store_.CheckpointAbove(kLogBytesMost).IgnoreError();
      TakeOldSecrets();
      continue;
    }
    const std::lock_guard hold(mutex_);
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
    std::unique_lock hold(mutex_);
    idle = !changed_.wait_for(hold, kIdle, [this] { return stopping_ || !items_.empty(); });
    const bool writes = std::any_of(items_.begin(), items_.end(),
                                    [](const Item& item) { return !item.batch.empty(); });
    if (writes && std::chrono::steady_clock::now() < began_ + kFloor) {
      gathering_ = true;
      changed_.wait_until(hold, began_ + kFloor, [this] { return stopping_; });
      gathering_ = false;
    }
    began_ = std::chrono::steady_clock::now();
    std::size_t entries = 0;
    while (!items_.empty() && entries < kEntriesPerTransaction) {
      entries += items_.front().batch.entries.size();
      entries_ += items_.front().batch.entries.size();
      taken.push_back(std::move(items_.front()));
      items_.pop_front();
    }
  }
  if (idle) {
    store_.CheckpointAbove(kLogBytesIdle).IgnoreError();
    TakeOldSecrets();
    // What went through left holes that the allocator would keep.
    if (std::exchange(entries_, 0) > kManyEntries) {
      malloc_trim(0);
    }
  }
  return taken;
}

// An error of it that matters is told by the next Commit.
void CommitQueue::TakeOldSecrets() {
  const auto now = std::chrono::steady_clock::now();
  if (failed_.ok() && now >= old_secrets_taken_ + kOldSecretsEvery) {
    store_.TakeOldSecrets().IgnoreError();
    old_secrets_taken_ = std::chrono::steady_clock::now();
  }
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
    const auto begun = std::chrono::steady_clock::now();
    {
      const std::lock_guard hold(mutex_);
      writing_since_ = begun;
    }
    status = store_.Commit(*batches);
    failed_ = status;
    const std::lock_guard hold(mutex_);
    writing_since_.reset();
    if (std::exchange(slow_said_, false)) {
      slow_ = std::chrono::steady_clock::now() - begun;
    }
  } else {
    status = absl::AbortedError(
        absl::StrCat("not written, for one before it was not: ", std::string(failed_.message())));
  }
  for (const auto& tell : *done) {
    tell(status);
    const std::lock_guard hold(mutex_);
    --depth_;
  }
  batches->clear();
  done->clear();
}

}  // namespace muster::daemon
