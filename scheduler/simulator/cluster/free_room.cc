#include "scheduler/simulator/cluster/free_room.h"

#include <algorithm>
#include <utility>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

void AddTo(RoomBucket& bucket, const RoomBucket& more) {
  bucket.time_s += more.time_s;
  bucket.largest += more.largest;
  bucket.fragmentation += more.fragmentation;
  bucket.free_s += more.free_s;
}

double Mean(double sum, double time_s) {
  return time_s > 0 ? sum / time_s : 0;
}

}  // namespace

void FreeRoom::Count(std::int64_t free) {
  free_ += free;
  ++by_free_[free];
}

void FreeRoom::Discount(std::int64_t free) {
  free_ -= free;
  const auto found = by_free_.find(free);
  if (--found->second == 0) {
    by_free_.erase(found);
  }
}

void FreeRoom::AddNode(std::int64_t size) {
  nodes_.push_back({size, size, false});
  size_max_ = std::max(size_max_, size);
  Count(size);
}

void FreeRoom::Set(std::size_t node, std::int64_t free) {
  Node& kept = nodes_[node];
  MUSTER_CHECK(free >= 0 && free <= kept.size);
  if (!kept.closed) {
    Discount(kept.free);
    Count(free);
  }
  kept.free = free;
}

void FreeRoom::Close(std::size_t node) {
  if (!nodes_[node].closed) {
    nodes_[node].closed = true;
    Discount(nodes_[node].free);
  }
}

void FreeRoom::Open(std::size_t node) {
  if (nodes_[node].closed) {
    nodes_[node].closed = false;
    Count(nodes_[node].free);
  }
}

double FreeRoom::fragmentation() const {
  const std::int64_t together = std::min(free_, size_max_);
  return together == 0 ? 0 : 1 - static_cast<double>(largest()) / static_cast<double>(together);
}

void FreeRoom::Advance(std::int64_t now) {
  if (!begun_) {
    begun_ = true;
    beginning_ = now;
    now_ = now;
    least_ = size_max_;
  }
  if (now == now_) {
    return;
  }
  least_ = std::min(least_, largest());
  while (now - beginning_ > bucket_s_ * static_cast<std::int64_t>(kBucketsMax)) {
    bucket_s_ *= 2;
    std::vector<RoomBucket> wider((series_.size() + 1) / 2);
    for (std::size_t i = 0; i < series_.size(); ++i) {
      AddTo(wider[i / 2], series_[i]);
    }
    series_ = std::move(wider);
  }
  while (now_ < now) {
    const std::int64_t number = (now_ - beginning_) / bucket_s_;
    const std::int64_t until = std::min(now, beginning_ + (number + 1) * bucket_s_);
    Spend(now_, until);
    now_ = until;
  }
}

// This time with what is free now, within one bucket.
void FreeRoom::Spend(std::int64_t from, std::int64_t until) {
  const auto time = static_cast<double>(until - from);
  const RoomBucket spent{time, time * static_cast<double>(largest()), time * fragmentation(),
                         free_ > 0 ? time : 0};
  const auto number = static_cast<std::size_t>((from - beginning_) / bucket_s_);
  if (number == series_.size()) {
    series_.emplace_back();
  }
  AddTo(series_[number], spent);
  AddTo(all_, spent);
}

double FreeRoom::mean_largest() const {
  return Mean(all_.largest, all_.time_s);
}

double FreeRoom::mean_fragmentation() const {
  return Mean(all_.fragmentation, all_.free_s);
}

std::vector<Metric> RoomMetrics(const FreeRoom& threads, const FreeRoom& gpus) {
  std::vector<Metric> metrics = {
      {"mean_largest_job", threads.mean_largest(), false, "",
       "largest job that one node could take at once, in hardware threads: mean over time"},
      {"min_largest_job", static_cast<double>(threads.least_largest()), true, "", "its least"},
      {"fragmentation", threads.mean_fragmentation(), false, "",
       "mean over the time in which threads are free of 1 - largest on one node / min(free, "
       "largest "
       "node): external fragmentation, a node for a block; Randell, CACM 12(7), 1969"},
  };
  if (gpus.largest_node() > 0) {
    const std::vector<Metric> of_gpus = {
        {"mean_largest_gpu_job", gpus.mean_largest(), false, "",
         "largest job of a GPU and a thread a task that one node could take: mean over time"},
        {"min_largest_gpu_job", static_cast<double>(gpus.least_largest()), true, "", "its least"},
        {"gpu_fragmentation", gpus.mean_fragmentation(), false, "",
         "as fragmentation, of GPUs that have a free thread"},
    };
    metrics.insert(metrics.end(), of_gpus.begin(), of_gpus.end());
  }
  return metrics;
}

}  // namespace muster::sim
