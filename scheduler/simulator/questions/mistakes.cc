#include "scheduler/simulator/questions/mistakes.h"

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/handle.h"
#include "scheduler/core/state/invariants.h"
#include "scheduler/simulator/questions/side_walks.h"
#include "scheduler/simulator/questions/wrong_plans.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/rare_wishes.h"
#include "scheduler/simulator/workload/spoiling.h"

namespace muster::sim {
namespace {

constexpr std::uint32_t kLooked = 400;  // thousandths of the commands
constexpr std::uint32_t kTries = 4;     // of each
constexpr std::uint32_t kTaken = 300;   // thousandths of those that are taken: what follows is seen
constexpr std::uint32_t kWalked = 50;   // thousandths of the commands: a walk begins there

// What a command has beyond its fields, which the transport says or which name its job.
template <class T>
void SpoilRest(RandomSequence& random, T* command) {
  if constexpr (requires { command->by; }) {
    if (Chance(random, 200)) {
      command->by = DrawRareActor(random);
    }
  }
  if constexpr (requires { command->job; }) {
    if (Chance(random, 100)) {
      command->job = JobId(1 + Draw(random, 80));
    }
  }
  if constexpr (requires { command->array_index; }) {
    if (Chance(random, 100)) {
      command->array_index = Draw(random, 4);
    }
  }
  if constexpr (requires { command->node; }) {
    if (Chance(random, 100)) {
      command->node = NodeId(1 + Draw(random, 8));
    }
  }
}

void SpoilObject(RandomSequence& random, PolicyObject* object) {
  std::visit([&random](auto& held) { SpoilOne(random, &held); }, *object);
}

// An agent may have run what nobody ordered, and may say more than it should.
void SpoilRegistration(RandomSequence& random, Registration* registration) {
  if (registration->attempts.empty() || Chance(random, 500)) {
    SpoilOne(random, registration);
    return;
  }
  auto& attempt = registration->attempts[random.Below(registration->attempts.size())];
  switch (random.Below(7)) {
    case 0:
      attempt.job = JobId(1 + Draw(random, 100));
      break;
    case 1:
      attempt.job = JobId(UINT64_MAX - Draw(random, 2));
      break;
    case 2:
      attempt.attempt = AttemptNumber(Chance(random, 500) ? 1'000'000'000 : 1 + Draw(random, 3));
      break;
    case 3:
      attempt.ended = !attempt.ended;
      break;
    case 4:
      attempt.frozen = !attempt.frozen;
      break;
    case 5:
      registration->attempts.push_back(attempt);
      break;
    default:
      registration->attempts.resize(Chance(random, 200) ? 9'000 : 0);
  }
}

void SpoilWishes(RandomSequence& random, std::vector<GpuWish>* wishes) {
  if (wishes->empty()) {
    return;
  }
  GpuWish& wish = (*wishes)[random.Below(wishes->size())];
  switch (random.Below(6)) {
    case 0:
      wish.node = NodeId(1 + Draw(random, 8));
      break;
    case 1:
      wish.layout.gpu = absl::StrCat("GPU-", Draw(random, 9));
      break;
    case 2:
      wish.layout.job = JobId(1 + Draw(random, 80));
      break;
    case 3:
      wish.layout.phase =
          OneOf(random, {LayoutPhase::kWanted, LayoutPhase::kOrdered, LayoutPhase::kMade});
      break;
    case 4:
      wish.layout.instances.resize(Draw(random, 40));
      break;
    default:
      wishes->push_back(wish);
  }
}

void Spoil(RandomSequence& random, Command* command) {
  std::visit(
      [&random](auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, RegisterAgent>) {
          SpoilRegistration(random, &held.registration);
        } else if constexpr (std::is_same_v<T, LayOutGpus>) {
          SpoilWishes(random, &held.wishes);
        } else if constexpr (std::is_same_v<T, TakePlan>) {
          SpoilOne(random, &held.plan);
        } else if constexpr (std::is_same_v<T, TakeReport> || std::is_same_v<T, TakeHealthReport>) {
          SpoilOne(random, &held.report);
        } else if constexpr (std::is_same_v<T, ConfigurePolicy>) {
          if (!held.objects.empty()) {
            SpoilObject(random, &held.objects[random.Below(held.objects.size())]);
          }
        } else if constexpr (Described<T>) {
          SpoilOne(random, &held);
        }
        SpoilRest(random, &held);
      },
      *command);
}

}  // namespace

std::optional<std::string> Mistakes::Look(const core::ClusterState& state, const Command& command,
                                          Time now, const SchedulerConfig& config) {
  if (Chance(random_, kWalked)) {
    return Chance(random_, 700) ? WrongWalk(state, now, config, random_)
                                : WrongWalkOfANewCluster(now, config, random_);
  }
  if (!Chance(random_, kLooked)) {
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < kTries; ++i) {
    Command wrong = command;
    auto* plan = std::get_if<TakePlan>(&wrong);
    const bool is_other = plan != nullptr && Chance(random_, 700);
    const std::uint32_t places = is_other ? 0 : 1 + Draw(random_, 2);
    for (std::uint32_t place = 0; place < places; ++place) {
      Spoil(random_, &wrong);
    }
    if (is_other) {
      plan->plan = WrongPlan(state, std::move(plan->plan), random_);
    }
    if (auto* submit = std::get_if<SubmitJob>(&wrong); submit != nullptr && !Chance(random_, 50)) {
      submit->token = absl::StrCat("spoilt-", i);
    }
    if (auto* step = std::get_if<StartStep>(&wrong); step != nullptr && !Chance(random_, 50)) {
      step->token = absl::StrCat("spoilt-", i);
    }
    const core::Transition found = core::Handle(state, wrong, now, config);
    if (!found.status.ok() && (!found.events.empty() || !found.effects.empty())) {
      return "a refused input made events or effects";
    }
    // A plan is the planner's own: whether it is stale is judged, and not where it puts ranks.
    if (found.events.empty() || (plan != nullptr && !is_other) || !Chance(random_, kTaken)) {
      continue;
    }
    core::ClusterState after = state;
    for (const Event& event : found.events) {
      after.Apply(event);
    }
    if (const std::optional<std::string> broken = core::BrokenInvariant(after)) {
      return absl::StrCat("invariant, after a command with a mistake: ", *broken);
    }
  }
  return std::nullopt;
}

}  // namespace muster::sim
