#include "daemon/agents/live_usage.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
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
constexpr std::size_t kGpusMax = 256;
constexpr std::chrono::hours kXidKept{1};

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

std::vector<GpuErrors> ReadGpuErrors(const wire::UsageSamples& message) {
  std::vector<GpuErrors> gpus;
  for (const wire::GpuTrouble& gpu : message.gpus()) {
    if (gpus.size() < kGpusMax && gpu.gpu().size() <= kTextMax) {
      gpus.push_back({gpu.gpu(), gpu.uncorrected_ecc(), gpu.xid(), gpu.xids()});
    }
  }
  return gpus;
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
  faulty_.erase(node);
}

void LiveUsage::TakeGpus(NodeId node, const std::vector<GpuErrors>& gpus, Time now) {
  const MutexLock lock(&mutex_);
  const auto before = faulty_.find(node);
  std::map<std::string, FaultyGpu> faulty;
  for (const GpuErrors& errors : gpus) {
    FaultyGpu gpu;
    if (before != faulty_.end() && before->second.contains(errors.gpu)) {
      gpu = before->second.at(errors.gpu);
    }
    if (errors.uncorrected_ecc != gpu.errors.uncorrected_ecc) {
      gpu.ecc_since = now;
    }
    if (errors.xids != gpu.errors.xids) {
      gpu.xid_since = now;
    }
    gpu.errors = errors;
    faulty[errors.gpu] = std::move(gpu);
  }
  if (faulty.empty()) {
    faulty_.erase(node);
  } else {
    faulty_[node] = std::move(faulty);
  }
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
  std::vector<Warning> warnings;
  const MutexLock lock(&mutex_);
  const auto found = faulty_.find(node);
  if (found == faulty_.end()) {
    return warnings;
  }
  for (const auto& [name, gpu] : found->second) {
    if (gpu.errors.uncorrected_ecc > 0) {
      warnings.push_back({"GpuEccErrors",
                          absl::StrCat("GPU ", name, ": ", gpu.errors.uncorrected_ecc,
                                       " errors of its memory that ECC could not correct, since "
                                       "its driver was loaded"),
                          gpu.ecc_since});
    }
    if (gpu.errors.xids > 0 && now - gpu.xid_since < kXidKept) {
      warnings.push_back({"GpuXid",
                          absl::StrCat("GPU ", name, ": its driver told XID ", gpu.errors.xid,
                                       ", of ", gpu.errors.xids, " since the agent's start"),
                          gpu.xid_since});
    }
  }
  return warnings;
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
