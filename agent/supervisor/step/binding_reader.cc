#include "agent/supervisor/step/binding_reader.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/variables/device_environment.h"

namespace muster::agent {
namespace {

constexpr Duration kReadBackInterval{1};
constexpr std::size_t kRanksPerReport = 1000;

}  // namespace

topology::PlannedBinding BindingReader::PlanOf(const StepRank& rank) const {
  topology::PlannedBinding plan;
  plan.cpus = rank.placement.cpus;
  plan.mem_nodes = rank.placement.mem_nodes;
  plan.gpus = VisibleGpus(host_.order, plan_.node(), &rank.placement);
  plan.enforced = host_.order.machine.enforced;
  plan.why_not_enforced = host_.order.machine.why_not_enforced;
  plan.one_memory_node = host_.order.machine.numa_nodes.size() <= 1;
  return plan;
}

void BindingReader::Try(StepRank* rank, int tries_left) {
  if (rank->settled) {
    return;
  }
  absl::StatusOr<topology::ObservedBinding> found = topology::ReadBack(rank->pid);
  const bool whole = found.ok() && found->cpus.has_value() && found->mem_policy.has_value() &&
                     found->gpus.has_value();
  if (!whole && tries_left > 0) {
    timers_.After(kReadBackInterval, [this, rank, tries_left] {
      Try(rank, tries_left - 1);
      on_read_();
    });
    return;
  }
  Take(rank, found.ok() ? *std::move(found) : topology::ObservedBinding());
}

void BindingReader::Take(StepRank* rank, topology::ObservedBinding found) const {
  const topology::PlannedBinding plan = PlanOf(*rank);
  if (rank->self.has_value()) {
    // What could not be asked any more the child said itself, just before its exec.
    topology::ObservedBinding self = topology::FromKernel(*rank->self, plan.gpus);
    found.cpus = found.cpus.has_value() ? found.cpus : self.cpus;
    found.mem_policy = found.mem_policy.has_value() ? found.mem_policy : self.mem_policy;
    found.gpus = found.gpus.has_value() ? found.gpus : self.gpus;
  }
  RankBinding binding = topology::Compare(plan, found);
  binding.step = plan_.step;
  binding.rank = rank->placement.rank;
  binding.pid = rank->started_pid;
  const int refused = !rank->self.has_value()      ? 0
                      : rank->self->cpu_error != 0 ? rank->self->cpu_error
                                                   : rank->self->policy_error;
  if (refused != 0 && plan.enforced) {
    absl::StrAppend(&binding.text, binding.text.empty() ? "" : "; ",
                    "the kernel said: ", std::generic_category().message(refused));
  }
  if (!note_.empty()) {
    absl::StrAppend(&binding.text, binding.text.empty() ? "" : "; ", note_);
  }
  rank->binding = std::move(binding);
  rank->settled = true;
}

void BindingReader::Report(const StepRanks& ranks) const {
  BindingRead read;
  read.time = host_.clock.Now();
  for (const std::unique_ptr<StepRank>& rank : ranks.all()) {
    if (rank->binding.has_value()) {
      read.ranks.push_back(*rank->binding);
    }
    if (read.ranks.size() == kRanksPerReport) {
      host_.reporter.Report(read);
      read.ranks.clear();
    }
  }
  if (!read.ranks.empty()) {
    host_.reporter.Report(std::move(read));
  }
}

}  // namespace muster::agent
