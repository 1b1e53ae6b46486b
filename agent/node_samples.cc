#include "agent/node_samples.h"

#include <map>
#include <utility>

#include "agent/node/faults/attempt_errors.h"
#include "agent/node/gpu_sample.h"
#include "agent/node/pace/gpu_record.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "proto/convert/job.h"
#include "proto/convert/node.h"

namespace muster::agent {
namespace {

void AddReported(const ReportedValues& reported, wire::AttemptUsage& sample) {
  for (const ReportedValue& value : reported.values) {
    wire::ReportedValue& said = *sample.add_reported();
    said.set_name(value.name);
    said.set_last(value.last);
    said.set_time(value.time.time_since_epoch().count());
    said.set_count(value.count);
  }
  for (const ReportedFinding& finding : reported.findings) {
    wire::ReportedFinding& found = *sample.add_findings();
    found.set_rule(finding.rule);
    found.set_text(finding.text);
    found.set_since(finding.since.time_since_epoch().count());
  }
}

}  // namespace

NodeSamples::NodeSamples(const Machine& machine, StateDirectory& state, const Clock& clock,
                         UsageSampler::Sources sources)
    : state_(state),
      clock_(clock),
      usage_(machine, state, sources),
      pace_(state, sources.proc),
      gpus_(sources.gpus),
      gpu_users_(machine, sources.gpus, sources.proc) {}

std::vector<GpuFault> NodeSamples::Take(const UsageSampler::Running& running,
                                        const std::string& node) {
  const SteadyTime now = clock_.SteadyNow();
  usage_.Sample(running, now);
  pace_.Sample(running, usage_.gpus(), now, clock_.Now());
  gpu_users_.Look(running, now);
  std::vector<GpuFault> faults = judge_.Judge(usage_.gpus(), clock_.Now());
  if (!judge_.errors().empty() && judge_.errors().back().seen > errors_recorded_) {
    errors_recorded_ = judge_.errors().back().seen;
    for (const auto& [key, attempt] : running) {
      if (attempt.part != nullptr && !attempt.part->gpus.empty()) {
        pace_.AddErrors(key, ErrorsMet(state_.Attempt(key).Journal(), node, judge_.errors()));
      }
    }
  }
  return faults;
}

std::vector<GpuFault> NodeSamples::LookForErrors() {
  return gpus_ == nullptr ? std::vector<GpuFault>() : judge_.Judge(gpus_->Glance(), clock_.Now());
}

void NodeSamples::Complete(const AttemptKey& key, const std::string& node, RunEnded& end) const {
  const AttemptDirectory directory = state_.Attempt(key);
  GpuRecord record = ReadGpuRecord(directory.Gpus());
  record.AddErrors(ErrorsMet(directory.Journal(), node, judge_.errors()));
  record.AddTo(end);
}

Duration NodeSamples::NextIn(Duration every) const {
  return usage_.NextIn(every, clock_.SteadyNow());
}

std::optional<wire::UsageSamples> NodeSamples::Tell() {
  const std::map<AttemptKey, Usage> used = usage_.used();
  const std::vector<topology::GpuReading> gpus = usage_.gpus();
  if (used.empty() && gpus.empty() && !std::exchange(told_, false)) {
    return std::nullopt;
  }
  wire::UsageSamples samples;
  const std::map<AttemptKey, std::vector<RankPace>> paces = pace_.ranks();
  for (const auto& [key, usage] : used) {
    wire::AttemptUsage& sample = *samples.add_attempts();
    sample.set_job(key.job.value());
    sample.set_attempt(key.attempt.value());
    sample.set_time(clock_.Now().time_since_epoch().count());
    ToWire(usage, sample.mutable_usage());
    AddReported(ReadReported(state_.Attempt(key).Reported()), sample);
    if (const auto ranks = paces.find(key); ranks != paces.end()) {
      for (const RankPace& pace : ranks->second) {
        ToWire(pace, sample.add_ranks());
      }
    }
  }
  for (const topology::GpuReading& gpu : gpus) {
    wire::GpuSample& sample = *samples.add_gpus();
    sample = SampleOf(gpu);
    if (const std::optional<std::uint32_t> lost = judge_.LostLinks(gpu.uuid)) {
      sample.set_lost_links(*lost);
    }
    if (const std::optional<GpuPace> pace = pace_.PaceOf(gpu.uuid)) {
      ToWire(*pace, sample.mutable_pace());
    }
  }
  if (const std::optional<GpuOccupants>& occupants = gpu_users_.occupants()) {
    wire::UsersOfGpus& users = *samples.mutable_users_of_gpus();
    for (const GpuOccupant& occupant : *occupants) {
      ToWire(occupant, users.add_occupants());
    }
  }
  told_ = told_ || !used.empty();
  return samples;
}

}  // namespace muster::agent
