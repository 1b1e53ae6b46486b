#include "scheduler/simulator/questions/state_copies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

template <class Holds>
Job* AnyJob(StateImage& image, RandomSequence& random, Holds holds) {
  std::vector<Job*> found;
  for (Job& job : image.jobs) {
    if (holds(job)) {
      found.push_back(&job);
    }
  }
  return found.empty() ? nullptr : found[random.Below(found.size())];
}

bool HasAttempt(const Job& job) {
  return job.attempt.has_value();
}

bool IsRunningJob(const Job& job) {
  return HasAttempt(job) && IsRunning(job.state);
}

NodeAllocation& AnyPart(Job& job, RandomSequence& random) {
  std::vector<NodeAllocation>& parts = job.attempt->allocation.nodes;
  return parts[random.Below(parts.size())];
}

// Ranks.

bool SwapRanks(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return HasAttempt(each) && each.attempt->allocation.nodes.front().ranks.size() > 1;
  });
  if (job != nullptr) {
    std::vector<RankPlacement>& ranks = job->attempt->allocation.nodes.front().ranks;
    std::swap(ranks[0].rank, ranks[1].rank);
  }
  return job != nullptr;
}

bool MoveRankOutside(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return HasAttempt(each) && !each.attempt->allocation.nodes.front().ranks.empty();
  });
  if (job == nullptr) {
    return false;
  }
  RankPlacement& rank = job->attempt->allocation.nodes.front().ranks.front();
  switch (random.Below(4)) {
    case 0:
      rank.cpus.Insert(4000);
      break;
    case 1:
      rank.cpus = CpuSet();
      break;
    case 2:
      rank.mem_nodes.Insert(60);
      break;
    default:
      rank.gpus.push_back(60);
  }
  return true;
}

bool NumberRanksWrongly(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return HasAttempt(each) && !each.attempt->allocation.nodes.back().ranks.empty();
  });
  if (job == nullptr) {
    return false;
  }
  std::vector<NodeAllocation>& parts = job->attempt->allocation.nodes;
  RankPlacement& last = parts.back().ranks.back();
  const bool twice = parts.size() > 1 && parts.back().ranks.size() == 1 &&
                     !parts.front().ranks.empty() && Chance(random, 500);
  last.rank = twice ? parts.front().ranks.front().rank : last.rank + 5;
  return true;
}

// Steps.

bool StartAStepTwice(StateImage& image, RandomSequence& random) {
  const auto is_whole = [](const StepRun& step) {
    return step.exclusive && !step.waiting_for.empty() &&
           std::any_of(step.placement.nodes.begin(), step.placement.nodes.end(),
                       [&step](const NodeAllocation& part) {
                         return !part.cpus.Empty() && part.node == step.waiting_for.front();
                       });
  };
  Job* job = AnyJob(image, random, [&](const Job& each) {
    return HasAttempt(each) &&
           std::any_of(each.attempt->steps.begin(), each.attempt->steps.end(), is_whole);
  });
  if (job != nullptr) {
    std::vector<StepRun>& steps = job->attempt->steps;
    steps.push_back(*std::find_if(steps.begin(), steps.end(), is_whole));
  }
  return job != nullptr;
}

bool QueueStepsOutOfOrder(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return HasAttempt(each) && !each.attempt->queued_steps.empty();
  });
  if (job == nullptr) {
    return false;
  }
  if (Chance(random, 500)) {
    job->attempt->queued_steps.push_back(job->attempt->queued_steps.front());
  } else {
    job->attempt->last_step = StepId();
  }
  return true;
}

// States and suspensions.

bool EndWithoutEnd(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job&) { return true; });
  if (job != nullptr) {
    job->state = JobState::kCompleted;
  }
  return job != nullptr;
}

bool RunWithoutResources(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, HasAttempt);
  if (job != nullptr && Chance(random, 500)) {
    job->attempt.reset();
  } else if (job != nullptr) {
    job->state = JobState::kPending;
  }
  return job != nullptr;
}

bool LoseARun(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, HasAttempt);
  if (job != nullptr) {
    job->attempt->runs.pop_back();
  }
  return job != nullptr;
}

bool SuspendByHalf(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, IsRunningJob);
  if (job == nullptr) {
    return false;
  }
  Attempt& attempt = *job->attempt;
  switch (random.Below(4)) {
    case 0:
      attempt.suspended_by = SuspendedBy::kOperator;
      break;
    case 1:
      attempt.suspended_by = SuspendedBy::kOperator;
      attempt.suspension += 1;
      break;
    case 2:
      attempt.suspended_since = attempt.started;
      break;
    default:
      attempt.runs.front().suspension = attempt.suspension + 1;
  }
  return true;
}

bool ResumeByHalf(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random,
                    [](const Job& each) { return HasAttempt(each) && IsSuspended(each.state); });
  if (job != nullptr) {
    job->attempt->suspended_by = SuspendedBy::kNobody;
    job->attempt->suspension += 1;
  }
  return job != nullptr;
}

// What is given to two.

bool HoldNoThread(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return HasAttempt(each) && each.attempt->suspended_since == kNoTime;
  });
  if (job != nullptr) {
    for (NodeAllocation& part : job->attempt->allocation.nodes) {
      part.ranks.clear();
    }
    AnyPart(*job, random).cpus = CpuSet();
  }
  return job != nullptr;
}

// The first part of a job, and another job's part of the same node; both hold threads.
std::pair<NodeAllocation*, NodeAllocation*> TwoOnANode(StateImage& image) {
  std::map<NodeId, std::pair<Job*, NodeAllocation*>> first;
  for (Job& job : image.jobs) {
    if (!HasAttempt(job) || job.attempt->suspended_since != kNoTime) {
      continue;
    }
    for (NodeAllocation& part : job.attempt->allocation.nodes) {
      const auto [other, is_new] = first.try_emplace(part.node, &job, &part);
      if (!is_new) {
        return {other->second.second, &part};
      }
    }
  }
  return {nullptr, nullptr};
}

bool GiveAThreadTwice(StateImage& image, RandomSequence& /*random*/) {
  const auto [one, other] = TwoOnANode(image);
  if (one != nullptr) {
    other->cpus |= one->cpus;
  }
  return one != nullptr;
}

bool GiveAGpuTwice(StateImage& image, RandomSequence& /*random*/) {
  const auto [one, other] = TwoOnANode(image);
  if (one == nullptr || (one->gpus.empty() && other->gpus.empty())) {
    return false;
  }
  NodeAllocation* from = one->gpus.empty() ? other : one;
  NodeAllocation* to = from == one ? other : one;
  from->gpus.front().share = kWholeGpu;
  to->gpus.push_back(GpuGrant{from->gpus.front().gpu, GpuShare(1)});
  return true;
}

bool LetInAnotherUser(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [&](const Job& each) {
    return HasAttempt(each) &&
           std::any_of(image.jobs.begin(), image.jobs.end(), [&](const Job& other) {
             return HasAttempt(other) && other.spec->user.uid != each.spec->user.uid &&
                    other.attempt->allocation.nodes.front().node ==
                        each.attempt->allocation.nodes.front().node;
           });
  });
  if (job != nullptr) {
    JobSpec spec = *job->spec;
    spec.request.exclusive_user = true;
    job->spec = job->changed_spec = std::make_shared<const JobSpec>(std::move(spec));
  }
  return job != nullptr;
}

// Nodes and ids.

bool GiveIdsOutAgain(StateImage& image, RandomSequence& random) {
  const bool nodes = Chance(random, 500) && !image.nodes.empty();
  if (nodes) {
    image.next_node = NodeId(1);
  } else {
    image.next_job = JobId(1);
  }
  return nodes || !image.jobs.empty();
}

bool QuarantineElsewhere(StateImage& image, RandomSequence& /*random*/) {
  for (Node& node : image.nodes) {
    if (!node.quarantined.empty()) {
      node.quarantined.front().allocation.node = node.id.Next();
      return true;
    }
  }
  return false;
}

bool SwitchABusyNodeOff(StateImage& image, RandomSequence& random) {
  const auto is_there = [&image](const NodeAllocation& part) {
    return std::any_of(image.nodes.begin(), image.nodes.end(), [&part](const Node& node) {
      return node.id == part.node && node.connected;
    });
  };
  const Job* job = AnyJob(image, random, [&](const Job& each) {
    return HasAttempt(each) && is_there(each.attempt->allocation.nodes.front());
  });
  if (job != nullptr) {
    const NodeId node = job->attempt->allocation.nodes.front().node;
    std::erase_if(image.power, [node](const NodePower& power) { return power.node == node; });
    NodePower off;
    off.node = node;
    off.state = PowerState::kOff;
    image.power.push_back(off);
  }
  return job != nullptr;
}

// Heterogeneous jobs.

bool LoseAComponent(StateImage& image, RandomSequence& random) {
  const bool depends = std::any_of(image.jobs.begin(), image.jobs.end(), [](const Job& job) {
    return !job.spec->dependency.terms.empty();
  });
  const Job* job =
      depends || !image.elements.empty() ? nullptr : AnyJob(image, random, IsComponent);
  if (job != nullptr) {
    std::erase_if(image.jobs, [id = job->id](const Job& each) { return each.id == id; });
  }
  return job != nullptr;
}

bool PartComponents(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return IsComponent(each) && each.id != each.submission;
  });
  if (job == nullptr) {
    return false;
  }
  switch (random.Below(3)) {
    case 0:
      job->held = !job->held;
      break;
    case 1:
      job->het_size += 1;
      break;
    default:
      job->het_size = 1;
  }
  return true;
}

bool StartComponentsApart(StateImage& image, RandomSequence& random) {
  Job* job = AnyJob(image, random, [](const Job& each) {
    return IsComponent(each) && HasAttempt(each) && each.id != each.submission;
  });
  if (job != nullptr && Chance(random, 500)) {
    job->attempt->started += Duration(1);
  } else if (job != nullptr) {
    job->attempt->number = job->attempt->number.Next();
  }
  return job != nullptr;
}

struct Damage {
  const char* name;
  bool (*make)(StateImage&, RandomSequence&);  // false: there is nothing to damage
};

constexpr Damage kDamages[] = {
    {"two ranks have each other's number", SwapRanks},
    {"a rank has what its node's part has not", MoveRankOutside},
    {"a rank's number is wrong", NumberRanksWrongly},
    {"two steps have the same threads to themselves", StartAStepTwice},
    {"steps wait out of order", QueueStepsOutOfOrder},
    {"a job has ended and is there", EndWithoutEnd},
    {"a job has an attempt and waits, or runs without", RunWithoutResources},
    {"a job has a run less than nodes", LoseARun},
    {"a running job is half suspended", SuspendByHalf},
    {"a suspended job is half resumed", ResumeByHalf},
    {"a job holds no thread of a node", HoldNoThread},
    {"a thread is given twice", GiveAThreadTwice},
    {"a GPU is given twice", GiveAGpuTwice},
    {"another user's job is where one lets in its user's alone", LetInAnotherUser},
    {"an id would be given out again", GiveIdsOutAgain},
    {"an attempt is quarantined on another node", QuarantineElsewhere},
    {"a node with a job is off", SwitchABusyNodeOff},
    {"a heterogeneous job lacks a component", LoseAComponent},
    {"components are not alike", PartComponents},
    {"components did not start together", StartComponentsApart},
};

}  // namespace

void KeptRows::Note(const core::ClusterState& state, const Event& event) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
    tokens_.push_back(TokenOwner{submitted->token, submitted->first, StepId()});
  } else if (const auto* step = std::get_if<StepStarted>(&event)) {
    tokens_.push_back(TokenOwner{step->token, step->job, step->step});
  } else if (const auto* queued = std::get_if<StepQueued>(&event)) {
    tokens_.push_back(TokenOwner{queued->token, queued->job, queued->step});
  } else if (const auto* ended = std::get_if<JobEnded>(&event)) {
    for (std::uint32_t i = 0; i <= ended->more; ++i) {
      const Job* job = state.FindJob(JobId(ended->job.value() + i));
      ended_.push_back(EndedJob{JobId(ended->job.value() + i), job->submission, job->array_index,
                                job->first_started, IsSuccess(ended->state)});
    }
  }
}

void KeptRows::AddHistories(const Dependency& dependency,
                            std::vector<TargetHistory>* histories) const {
  for (const DependencyTerm& term : dependency.terms) {
    TargetHistory history;
    history.job = term.job;
    history.element = term.element;
    for (const EndedJob& job : ended_) {
      const bool is_one = term.element.has_value()
                              ? job.submission == term.job && job.array_index == term.element
                              : job.submission == term.job || job.id == term.job;
      if (!is_one) {
        continue;
      }
      ++history.ended;
      history.failed += job.success ? 0 : 1;
      history.started = std::max(history.started, job.started);
      if (job.array_index.has_value()) {
        (job.success ? history.completed : history.others).Insert(*job.array_index);
      }
    }
    histories->push_back(history);
  }
}

void KeptRows::Tell(Command* command) const {
  if (auto* submit = std::get_if<SubmitJob>(command)) {
    AddHistories(submit->spec.dependency, &submit->history);
  } else if (auto* update = std::get_if<UpdateJob>(command);
             update != nullptr && update->changes.dependency.has_value()) {
    AddHistories(*update->changes.dependency, &update->history);
  }
}

StateImage KeptRows::ImageOf(const core::ClusterState& state) const {
  StateImage image;
  image.version = state.version();
  image.epoch = state.epoch();
  image.next_job = state.next_job();
  image.next_node = state.node_table().next();
  for (const auto& [id, node] : state.nodes()) {
    image.nodes.push_back(node);
    image.nodes.back().taken = NodeUse();
  }
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t count) {
    AddHistories(job.spec->dependency, &image.history);
    if (state.jobs().IsUntouched(job.id)) {
      image.elements.push_back(UntouchedElements{job, count});
    } else {
      image.jobs.push_back(job);
    }
  });
  image.tokens = tokens_;
  image.policy = ObjectsOf(state.policy().site());
  for (const auto& [key, amount] : state.policy().snapshot().usage.spent) {
    image.spent.push_back(*state.policy().SpentOf(key));
  }
  image.usage = state.usage().TakeSnapshot().used;
  image.half_life = state.usage().half_life();
  const auto append = [](const auto& from, auto& to) {
    for (const auto& [key, value] : from) {
      to.push_back(value);
    }
  };
  append(state.health().nodes(), image.health);
  append(state.health().tallies(), image.tallies);
  append(state.power().nodes(), image.power);
  append(state.alerts().all(), image.alerts);
  image.narrow_links = state.narrow_links().all();
  return image;
}

std::optional<std::string> UnseenDamage(const StateImage& image, RandomSequence& random) {
  const std::size_t first = random.Below(std::size(kDamages));
  for (std::size_t i = 0; i < std::size(kDamages); ++i) {
    const Damage& damage = kDamages[(first + i) % std::size(kDamages)];
    StateImage copy = image;
    if (!damage.make(copy, random)) {
      continue;
    }
    const core::ClusterState damaged(std::move(copy));
    return core::BrokenInvariant(damaged).has_value() || core::BrokenGroup(damaged).has_value()
               ? std::nullopt
               : std::optional(
                     absl::StrCat("no invariant is said to be broken where ", damage.name));
  }
  return std::nullopt;
}

}  // namespace muster::sim
