#include "daemon/agents/live_usage.h"

#include <cstddef>
#include <utility>

#include "proto/convert/job.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/named_values.h"
#include "scheduler/base/text/words.h"

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

// A node is believed no more than it may say.
constexpr std::size_t kTextMax = 256;
constexpr int kFindingsMax = 64;

void ReadReported(const wire::AttemptUsage& attempt, UsageSample& sample) {
  for (const wire::ReportedValue& value : attempt.reported()) {
    if (sample.said.size() < ReportedCurves::kNamesMax && IsValueName(value.name())) {
      sample.said.push_back(
          {value.name(), value.last(), Time(Duration(value.time())), value.count()});
    }
  }
  for (const wire::ReportedFinding& finding : attempt.findings()) {
    if (static_cast<int>(sample.warnings.size()) < kFindingsMax &&
        IsPlainName(finding.rule(), 64) && finding.text().size() <= kTextMax) {
      sample.warnings.push_back({finding.rule(), finding.text(), Time(Duration(finding.since()))});
    }
  }
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
    ReadReported(attempt, sample);
    samples.push_back(std::move(sample));
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
    reported_.Add(*state.FindJob(job), sample.said);
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
  gpus_.Forget(node);
}

void LiveUsage::TakeGpus(NodeId node, const std::vector<GpuSample>& gpus, Time now) {
  const MutexLock lock(&mutex_);
  gpus_.Take(node, gpus, now);
}

void LiveUsage::TakeIdle(std::map<JobId, Warning> idle) {
  const MutexLock lock(&mutex_);
  idle_ = std::move(idle);
}

std::vector<Warning> LiveUsage::WarningsOf(const Job& job) const {
  std::vector<Warning> warnings;
  if (!job.attempt.has_value()) {
    return warnings;
  }
  const MutexLock lock(&mutex_);
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    const auto node = samples_.find(part.node);
    if (node == samples_.end()) {
      continue;
    }
    const auto found = node->second.find(job.id);
    if (found != node->second.end() && found->second.attempt == job.attempt->number) {
      warnings.insert(warnings.end(), found->second.warnings.begin(), found->second.warnings.end());
    }
  }
  if (const auto idle = idle_.find(job.id); idle != idle_.end()) {
    warnings.push_back(idle->second);
  }
  return warnings;
}

std::vector<Warning> LiveUsage::WarningsOf(NodeId node, Time now) const {
  const MutexLock lock(&mutex_);
  return gpus_.WarningsOf(node, now);
}

std::map<NodeId, GpuSums> LiveUsage::OfGpus() const {
  const MutexLock lock(&mutex_);
  return gpus_.Sums();
}

std::vector<JobCurve> LiveUsage::Curves(
    JobId job, const std::vector<std::uint32_t>& elements,
    const std::function<bool(const std::string& user)>& may_see) const {
  const MutexLock lock(&mutex_);
  std::vector<JobCurve> curves = curves_.Of(job, elements);
  for (JobCurve& curve : curves) {
    curve.reported = reported_.Of(curve.job, may_see);
  }
  return curves;
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
