#include "daemon/agents/live_usage.h"

#include <cstddef>
#include <utility>

#include "proto/convert/job.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// Whether the attempt under way has a part on the node that has not ended.
bool RunsOn(const Job* job, AttemptNumber attempt, NodeId node) {
  if (job == nullptr || !job->attempt.has_value() || job->attempt->number != attempt) {
    return false;
  }
  for (std::size_t i = 0; i < job->attempt->runs.size(); ++i) {
    if (job->attempt->allocation.nodes[i].node == node) {
      return job->attempt->runs[i].phase != RunPhase::kEnded;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<UsageSample>> ReadSamples(const wire::UsageSamples& message) {
  std::vector<UsageSample> samples;
  for (const wire::AttemptUsage& attempt : message.attempts()) {
    UsageSample sample;
    sample.job = JobId(attempt.job());
    sample.attempt = AttemptNumber(attempt.attempt());
    sample.time = Time(Duration(attempt.time()));
    RETURN_IF_ERROR(FromWire(attempt.usage(), &sample.usage));
    samples.push_back(sample);
  }
  return samples;
}

void LiveUsage::Take(NodeId node, const std::vector<UsageSample>& samples,
                     const core::ClusterState& state) {
  std::map<JobId, UsageSample> kept;
  for (const UsageSample& sample : samples) {
    if (RunsOn(state.FindJob(sample.job), sample.attempt, node)) {
      kept[sample.job] = sample;
    }
  }
  const MutexLock lock(&mutex_);
  for (const auto& [job, sample] : kept) {
    curves_.Add(*state.FindJob(job), node, sample.time, sample.usage);
  }
  if (kept.empty()) {
    samples_.erase(node);
  } else {
    samples_[node] = std::move(kept);
  }
}

void LiveUsage::Forget(NodeId node) {
  const MutexLock lock(&mutex_);
  samples_.erase(node);
}

std::vector<JobCurve> LiveUsage::Curves(JobId job,
                                        const std::vector<std::uint32_t>& elements) const {
  const MutexLock lock(&mutex_);
  return curves_.Of(job, elements);
}

std::vector<NodeUsage> LiveUsage::Of(const Job& job, const core::ClusterState& state) const {
  std::vector<NodeUsage> usage;
  if (!job.attempt.has_value()) {
    return usage;
  }
  const MutexLock lock(&mutex_);
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    const auto node = samples_.find(part.node);
    if (node == samples_.end()) {
      continue;
    }
    const auto found = node->second.find(job.id);
    const Node* const known = state.FindNode(part.node);
    if (found != node->second.end() && known != nullptr && known->connected &&
        RunsOn(&job, found->second.attempt, part.node)) {
      usage.push_back({part.name, found->second.time, found->second.usage});
    }
  }
  return usage;
}

}  // namespace muster::daemon
