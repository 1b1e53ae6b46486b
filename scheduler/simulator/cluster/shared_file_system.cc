#include "scheduler/simulator/cluster/shared_file_system.h"

#include <algorithm>
#include <vector>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

std::int64_t RoundedUp(std::int64_t bytes, std::int64_t rate) {
  return bytes / rate + (bytes % rate == 0 ? 0 : 1);
}

std::int64_t LimitOf(const FileSystem& system, std::int64_t nodes) {
  const std::int64_t fits = system.per_node == 0 ? 0 : system.bandwidth / system.per_node;
  return system.per_node == 0 || nodes > fits ? system.bandwidth : system.per_node * nodes;
}

}  // namespace

std::int64_t FileSystem::AloneFor(std::int64_t bytes, std::int64_t nodes) const {
  return std::max<std::int64_t>(1, RoundedUp(bytes, LimitOf(*this, nodes)));
}

void SharedFileSystem::Advance(Tick now) {
  MUSTER_CHECK(now >= now_);
  for (auto& [job, write] : writing_) {
    // A share that is larger than what is left is done before `now` is over.
    write.left -= std::min(write.left, RoundedUp(write.left, write.share) <= now - now_
                                           ? write.left
                                           : write.share * (now - now_));
  }
  now_ = now;
}

void SharedFileSystem::Ask(JobId job, std::int64_t bytes, std::int64_t nodes,
                           std::int64_t at_risk) {
  MUSTER_CHECK(bytes > 0 && !writing_.contains(job));
  MUSTER_CHECK(asked_.emplace(job, Asked{bytes, nodes, at_risk}).second);
  turns_.emplace(-at_risk, job);
}

std::optional<JobId> SharedFileSystem::Admit() {
  if (turns_.empty() || (system_.writers > 0 && writing_.size() >= system_.writers)) {
    return std::nullopt;
  }
  const JobId job = turns_.begin()->second;
  const Asked asked = asked_.at(job);
  Leave(job);
  writing_[job] = Write{asked.bytes, LimitOf(system_, asked.nodes), 0};
  Share();
  return job;
}

// The same for all, but what those cannot take who are limited by their nodes goes to the others.
void SharedFileSystem::Share() {
  std::vector<Write*> writes;
  for (auto& [job, write] : writing_) {
    writes.push_back(&write);
  }
  std::stable_sort(writes.begin(), writes.end(),
                   [](const Write* a, const Write* b) { return a->limit < b->limit; });
  std::int64_t left = system_.bandwidth;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto others = static_cast<std::int64_t>(writes.size() - i);
    writes[i]->share = std::max<std::int64_t>(1, std::min(writes[i]->limit, left / others));
    left -= std::min(left, writes[i]->share);
  }
}

std::pair<SharedFileSystem::Tick, JobId> SharedFileSystem::NextDone() const {
  std::pair<Tick, JobId> next{kNever, JobId()};
  for (const auto& [job, write] : writing_) {
    next = std::min(next, {now_ + RoundedUp(write.left, write.share), job});
  }
  return next;
}

void SharedFileSystem::Leave(JobId job) {
  if (writing_.erase(job) > 0) {
    Share();
    return;
  }
  const auto asked = asked_.find(job);
  if (asked != asked_.end()) {
    turns_.erase({-asked->second.at_risk, job});
    asked_.erase(asked);
  }
}

}  // namespace muster::sim
