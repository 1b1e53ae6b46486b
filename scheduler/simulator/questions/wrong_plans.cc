#include "scheduler/simulator/questions/wrong_plans.h"

#include <cstdint>
#include <vector>

#include "scheduler/model/machine/allocation.h"
#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

class PlanSpoiler {
 public:
  PlanSpoiler(const core::ClusterState& state, RandomSequence& random, Plan* plan)
      : random_(random), plan_(*plan) {
    for (const auto& [id, job] : state.jobs()) {
      jobs_.push_back(id);
      if (job.attempt.has_value()) {
        held_.push_back(&job);
        places_.push_back(job.attempt->allocation);
      }
    }
    for (const PlannedStart& start : plan_.starts) {
      places_.push_back(start.allocation);
    }
  }

  void Spoil() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        plan_.starts.push_back(
            {AnyJob(), AnyPlace(), OneOf(random_, {"all", "half", ""}), Draw(random_, 2), 0});
        break;
      case 2:
      case 3:
        plan_.preemptions.push_back(Preemption());
        break;
      case 4:
        plan_.resumes.push_back({AnyHolder(), AnyAttempt()});
        break;
      case 5:
        plan_.resizes.push_back(Resize());
        break;
      case 6:
        plan_.promises.push_back({AnyJob(), Time(Duration(1'767'225'700'000))});
        plan_.drops.push_back({AnyJob(), JobState::kCancelled, "it can never start"});
        break;
      default:
        if (!plan_.starts.empty()) {
          SpoilStart(&plan_.starts[random_.Below(plan_.starts.size())]);
        }
    }
  }

 private:
  JobId AnyJob() {
    return jobs_.empty() || Chance(random_, 50) ? JobId(1 + Draw(random_, 200))
                                                : jobs_[random_.Below(jobs_.size())];
  }

  // One that holds resources, whose attempt AnyAttempt names then.
  JobId AnyHolder() {
    if (held_.empty() || Chance(random_, 100)) {
      return AnyJob();
    }
    const Job& job = *held_[random_.Below(held_.size())];
    last_ = job.attempt->number;
    return job.id;
  }

  AttemptNumber AnyAttempt() { return Chance(random_, 100) ? last_.Next() : last_; }

  Allocation AnyPlace() {
    return places_.empty() ? Allocation() : places_[random_.Below(places_.size())];
  }

  PlannedPreemption Preemption() {
    PlannedPreemption preemption;
    preemption.job = AnyJob();
    for (std::uint32_t i = 0; i <= Draw(random_, 2); ++i) {
      PlannedVictim victim;
      victim.job = AnyHolder();
      victim.attempt = AnyAttempt();
      victim.suspend = Chance(random_, 400);
      victim.requeue = !victim.suspend && Chance(random_, 500);
      preemption.victims.push_back(victim);
    }
    preemption.allocation = AnyPlace();
    if (Chance(random_, 200) && !preemption.allocation.nodes.empty()) {
      SpoilPart(&preemption.allocation.nodes.front());
    }
    return preemption;
  }

  PlannedResize Resize() {
    PlannedResize resize;
    resize.job = AnyHolder();
    resize.attempt = AnyAttempt();
    resize.verdict = OneOf(random_, {ResizeVerdict::kGrow, ResizeVerdict::kShrink});
    resize.nodes = 1 + Draw(random_, 3);
    resize.when = Time(Duration(1));
    resize.for_job = AnyJob();
    return resize;
  }

  void SpoilStart(PlannedStart* start) {
    std::vector<NodeAllocation>& parts = start->allocation.nodes;
    if (parts.empty() || Chance(random_, 300)) {
      start->alternative = Draw(random_, 4);
      start->partition = OneOf(random_, {"all", "half", "nowhere"});
      return;
    }
    if (Chance(random_, 100)) {
      parts.push_back(parts.front());
      return;
    }
    SpoilPart(&parts[random_.Below(parts.size())]);
  }

  // Of what only a node can say.
  void SpoilPart(NodeAllocation* part) {
    switch (random_.Below(6)) {
      case 0:
        part->node = NodeId(1 + Draw(random_, 12));
        break;
      case 1:
        part->cpus.Insert(4'000);
        break;
      case 2:
        part->memory = kGibibyte * 4'000;
        break;
      case 3:
        part->gpus.push_back(GpuGrant{Draw(random_, 70), kWholeGpu});
        break;
      case 4:
        part->gres.push_back(GresCount{"scratch", 1'000});
        break;
      default:
        part->cpus = CpuSet();
    }
  }

  RandomSequence& random_;
  Plan& plan_;
  std::vector<JobId> jobs_;
  std::vector<const Job*> held_;
  std::vector<Allocation> places_;
  AttemptNumber last_;
};

}  // namespace

Plan WrongPlan(const core::ClusterState& state, Plan plan, RandomSequence& random) {
  PlanSpoiler spoiler(state, random, &plan);
  for (std::uint32_t i = 0; i <= Draw(random, 3); ++i) {
    spoiler.Spoil();
  }
  return plan;
}

}  // namespace muster::sim
