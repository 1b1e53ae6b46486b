#include "daemon/agents/live_usage.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/controller/views.h"
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

constexpr std::size_t kFindingsMost = 64;  // of a node or a job

// Of the ranks on that node, by GPU; of the job's script only where no step has that GPU.
std::vector<Warning> ErrorsOfRanks(const std::vector<RankView>& ranks, const std::string& node,
                                   const std::map<std::string, Warning>& met) {
  std::vector<Warning> warnings;
  std::set<std::pair<std::uint32_t, std::string>> told;
  for (const bool of_steps : {true, false}) {
    for (const RankView& rank : ranks) {
      for (const std::string& gpu : rank.gpus) {
        const auto error = met.find(gpu);
        if (rank.step.valid() == of_steps && rank.node == node && error != met.end() &&
            warnings.size() < kFindingsMost && told.emplace(rank.rank, gpu).second) {
          warnings.push_back({error->second.rule,
                              absl::StrCat("rank ", rank.rank, " on ", node, " met ",
                                           error->second.text, " on GPU ", gpu),
                              error->second.since});
        }
      }
    }
    if (!warnings.empty()) {
      break;
    }
  }
  return warnings;
}

// A node is believed no more than it may say.
constexpr std::size_t kTextMax = 256;
constexpr std::size_t kRanksMax = 4096;

void ReadReported(const wire::AttemptUsage& attempt, UsageSample& sample) {
  for (const wire::ReportedValue& value : attempt.reported()) {
    if (sample.said.size() < ReportedCurves::kNamesMax && IsValueName(value.name())) {
      sample.said.push_back(
          {value.name(), value.last(), Time(Duration(value.time())), value.count()});
    }
  }
  for (const wire::ReportedFinding& finding : attempt.findings()) {
    if (sample.warnings.size() < kFindingsMost && IsPlainName(finding.rule(), 64) &&
        finding.text().size() <= kTextMax) {
      sample.warnings.push_back({finding.rule(), finding.text(), Time(Duration(finding.since()))});
    }
  }
}

// Since when the first of those that are not only suspected is slower.
Time FirstSince(const StragglersView& stragglers) {
  Time first = kNoTime;
  for (const StragglerView& rank : stragglers.found) {
    if (!rank.suspected) {
      first = first == kNoTime ? rank.since : std::min(first, rank.since);
    }
  }
  return first;
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
    for (const wire::RankPace& rank : attempt.ranks()) {
      if (sample.ranks.size() < kRanksMax) {
        RETURN_IF_ERROR(FromWire(rank, &sample.ranks.emplace_back()));
      }
    }
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
  gpu_errors_.erase(node);
}

void LiveUsage::TakeGpus(NodeId node, const std::vector<GpuSample>& gpus, Time now) {
  const MutexLock lock(&mutex_);
  gpus_.Take(node, gpus, now);
}

std::vector<core::PacedRank> LiveUsage::PacesOf(const Job& job,
                                                const core::ClusterState& state) const {
  struct Told {
    std::map<std::pair<StepId, std::uint32_t>, const RankPace*> ranks;
    std::map<std::string, GpuPace> gpus;
    std::map<std::string, std::string> models;
  };
  std::map<std::string, Told> nodes;
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    Told& told = nodes[part.name];
    const auto node = samples_.find(part.node);
    if (node != samples_.end() && node->second.count(job.id) != 0) {
      for (const RankPace& pace : node->second.at(job.id).ranks) {
        told.ranks.emplace(std::pair(pace.step, pace.rank), &pace);
      }
    }
    told.gpus = gpus_.PacesOf(part.node);
    const Node* const known = state.FindNode(part.node);
    for (const Gpu& gpu : known == nullptr ? std::vector<Gpu>() : known->machine->gpus) {
      told.models.emplace(gpu.uuid, gpu.model + gpu.instance);
    }
  }
  std::vector<core::PacedRank> ranks;
  for (RankView& view : daemon::ViewOf(state, job, kNoTime).ranks) {
    if (!view.step.valid()) {
      continue;
    }
    const Told& told = nodes[view.node];
    core::PacedRank& rank =
        ranks.emplace_back(core::PacedRank{view.step, view.rank, view.node, view.nic, {}, {}});
    if (const auto pace = told.ranks.find({view.step, view.rank}); pace != told.ranks.end()) {
      rank.pace = *pace->second;
    }
    for (const std::string& uuid : view.gpus) {
      const auto model = told.models.find(uuid);
      const auto pace = told.gpus.find(uuid);
      rank.gpus.push_back({uuid, model == told.models.end() ? "" : model->second,
                           pace == told.gpus.end() ? std::nullopt : std::optional(pace->second)});
    }
  }
  return ranks;
}

void LiveUsage::LookForStragglers(NodeId node, const core::ClusterState& state, Time now) {
  const MutexLock lock(&mutex_);
  LookForGpuErrors(node, state);
  const auto samples = samples_.find(node);
  if (samples == samples_.end()) {
    return;
  }
  for (const auto& [id, sample] : samples->second) {
    const Job* const job = state.FindJob(id);
    if (job != nullptr && !sample.ranks.empty() && RunsOn(job, sample.attempt, node) &&
        stragglers_.IsDue(id, sample.attempt, now)) {
      stragglers_.Take(id, sample.attempt, now, core::FindStragglers(PacesOf(*job, state)));
    }
  }
}

void LiveUsage::LookForGpuErrors(NodeId node, const core::ClusterState& state) {
  std::map<JobId, RankErrors>& errors = gpu_errors_[node];
  errors.clear();
  const auto samples = samples_.find(node);
  const Node* const known = state.FindNode(node);
  if (samples == samples_.end() || known == nullptr) {
    return;
  }
  for (const auto& [id, sample] : samples->second) {
    const Job* const job = state.FindJob(id);
    if (!RunsOn(job, sample.attempt, node)) {
      continue;
    }
    const auto met = gpus_.ErrorsSince(node, job->attempt->started);
    if (!met.empty()) {
      errors[id] = {sample.attempt,
                    ErrorsOfRanks(daemon::ViewOf(state, *job, kNoTime).ranks, known->name, met)};
    }
  }
}

std::optional<StragglersView> LiveUsage::StragglersOf(const Job& job) const {
  const MutexLock lock(&mutex_);
  return stragglers_.Of(job);
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
  const auto add = [&](const auto& of_nodes) {
    for (const NodeAllocation& part : job.attempt->allocation.nodes) {
      const auto node = of_nodes.find(part.node);
      if (node == of_nodes.end()) {
        continue;
      }
      const auto found = node->second.find(job.id);
      if (found != node->second.end() && found->second.attempt == job.attempt->number) {
        const std::vector<Warning>& more = found->second.warnings;
        warnings.insert(warnings.end(), more.begin(), more.end());
      }
    }
  };
  add(samples_);
  add(gpu_errors_);
  if (const auto idle = idle_.find(job.id); idle != idle_.end()) {
    warnings.push_back(idle->second);
  }
  if (const std::optional<StragglersView> found = stragglers_.Of(job)) {
    if (std::string text = core::StragglerWarning(*found); !text.empty()) {
      warnings.push_back({"Straggler", std::move(text), FirstSince(*found)});
    }
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
