#include "checkpoint/store/flush.h"

#include <algorithm>
#include <utility>

#include "checkpoint/advice/progress.h"
#include "checkpoint/store/arrivals.h"
#include "checkpoint/store/flush_queue.h"
#include "checkpoint/store/store.h"

namespace muster::checkpoint {
namespace {

// Whether there was anything to copy.
Result<bool> FlushOne(const FlushPlan& plan, std::uint64_t generation, Disk& disk) {
  const Result<Store> local = Store::Open(disk, plan.local);
  if (!local.ok()) {
    return {false, local.error};
  }
  const Result<std::vector<GenerationName>> there = local.value.List();
  const GenerationName name{generation, GenerationState::kComplete};
  if (!there.ok()) {
    return {false, there.error};
  }
  if (std::find(there.value.begin(), there.value.end(), name) == there.value.end()) {
    return {false, {}};  // a newer one took its place, or it was set aside
  }
  const Result<Manifest> manifest = local.value.ReadManifest(name);
  if (!manifest.ok()) {
    return {false, manifest.error};
  }
  if (plan.rank >= manifest.value.shards.size()) {
    return {false, MakeError(Fault::kUsage, "has no rank " + std::to_string(plan.rank))};
  }
  Result<Store> shared = Store::Open(disk, plan.shared);
  if (!shared.ok()) {
    return {false, shared.error};
  }
  Arrivals arrivals(&shared.value, plan.rate);
  const Result<bool> same = arrivals.HasSame(manifest.value);
  if (!same.ok() || same.value) {
    return {false, same.error};
  }
  const Result<bool> placed = arrivals.Place(manifest.value, plan.rank, local.value);
  return {placed.value,
          placed.ok() ? arrivals.Complete(manifest.value, plan.retention, plan.admission).error
                      : placed.error};
}

void TellHowLong(const FlushPlan& plan, double seconds) {
  constexpr double kMicrosecondsPerSecond = 1e6;
  if (!plan.progress.empty() && seconds > 0) {
    TellCopied(plan.progress, static_cast<std::uint64_t>(seconds * kMicrosecondsPerSecond) + 1);
  }
}

// All that waits, with the lock held.
Error FlushLocked(const FlushPlan& plan, FlushQueue* queue, Disk& disk) {
  Error last;
  while (true) {
    const Result<std::uint64_t> generation = queue->BeginOldest();
    if (!generation.ok() || generation.value == 0) {
      return generation.ok() ? last : generation.error;
    }
    const Result<bool> copied = FlushOne(plan, generation.value, disk);
    if (!copied.ok()) {
      last =
          MakeError(copied.error.fault, "flush of generation " + std::to_string(generation.value) +
                                            " to " + plan.shared + ": " + copied.error.text);
      queue->Fail(last.text);
      if (copied.error.fault == Fault::kOverQuota && !plan.progress.empty()) {
        TellRefused(plan.progress, copied.error.text);
      }
    } else if (copied.value) {
      TellHowLong(plan, queue->SecondsSinceAdded(generation.value));
    }
    queue->End(generation.value);
  }
}

}  // namespace

Error FlushAll(const FlushPlan& plan, Disk& disk) {
  Result<FlushQueue> queue = FlushQueue::Open(disk, plan.local);
  if (!queue.ok()) {
    return queue.error;
  }
  Error last;
  while (true) {
    OpenFile lock(disk, -1);
    const Result<bool> held = queue.value.Lock(&lock);
    if (!held.ok() || !held.value) {
      return held.ok() ? last : held.error;
    }
    if (Error error = FlushLocked(plan, &queue.value, disk); error.failed()) {
      last = error;
    }
    lock = OpenFile(disk, -1);
    // What came after the last look found our lock, and started nobody.
    const Result<std::vector<std::uint64_t>> more = queue.value.Unflushed();
    if (!more.ok() || more.value.empty()) {
      return more.ok() ? last : more.error;
    }
  }
}

}  // namespace muster::checkpoint
