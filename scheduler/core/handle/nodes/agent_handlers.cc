#include "scheduler/core/handle/nodes/agent_handlers.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/utf8.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/handle/attempts/group_end.h"
#include "scheduler/core/handle/nodes/mig_handlers.h"
#include "scheduler/core/handle/nodes/power_handlers.h"
#include "scheduler/core/handle/nodes/reboot_handlers.h"
#include "scheduler/core/mig/mig_classes.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/state/actions.h"
#include "scheduler/core/state/tables/attempt.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/machine/machine_check.h"

namespace muster::core {
namespace {

// A job that was requeued as often as is allowed is held.
void HoldWhatRunsTooOften(const ClusterState& state, const SchedulerConfig& config,
                          Transition& transition) {
  for (Event& event : transition.events) {
    if (auto* requeued = std::get_if<JobRequeued>(&event)) {
      requeued->held = !requeued->preempted && !requeued->progressed && !requeued->resized &&
                       state.FindJob(requeued->job)->requeues >= config.requeues_max;
    }
  }
}

const KnownAttempt* FindAttempt(const std::vector<KnownAttempt>& attempts, JobId job,
                                AttemptNumber attempt) {
  const auto found = std::find_if(attempts.begin(), attempts.end(), [&](const KnownAttempt& known) {
    return known.job == job && known.attempt == attempt;
  });
  return found == attempts.end() ? nullptr : &*found;
}

// An attempt that should be on the node and that the agent does not have: either the order never
// reached it, or the record of it is gone. Records are not synced: of another boot the agent cannot
// say that it had none, and the order may have been obeyed.
std::optional<EndCause> WhyLost(const ClusterState& state, const NodeRun& run, const Node* before,
                                const Registration& registration) {
  const bool same_boot = before == nullptr || before->boot_id == registration.boot_id;
  const bool same_record = before != nullptr && before->instance == registration.instance;
  // Of an attempt that a copy of the state has, all may be over.
  const bool restored = WasRestored(registration.epoch_seen, state.epoch());
  if (run.phase == RunPhase::kOrdered && same_record && same_boot && !restored) {
    return std::nullopt;
  }
  return same_boot ? EndCause::kNodeLostRecord : EndCause::kNodeRebooted;
}

// True when the state, too, has the attempt under way on the node.
bool RunsHere(const ClusterState& state, const KnownAttempt& known, NodeId node) {
  const Job* job = state.FindJob(known.job);
  if (job == nullptr || !job->attempt.has_value() || job->attempt->number != known.attempt) {
    return false;
  }
  const std::optional<std::size_t> run = RunOn(*job->attempt, node);
  return run.has_value() && job->attempt->runs[*run].phase != RunPhase::kEnded;
}

// An attempt that a state restored from a copy does not know runs, or is about to, on the cores
// that this one holds: it was suspended since, whatever the numbers of suspensions say.
bool LostItsCores(const ClusterState& state, const Job& job, NodeId node,
                  const Registration& registration) {
  const CpuSet cpus = HeldPart(*job.attempt, *RunOn(*job.attempt, node)).cpus;
  return WasRestored(registration.epoch_seen, state.epoch()) &&
         std::any_of(registration.attempts.begin(), registration.attempts.end(),
                     [&](const KnownAttempt& known) {
                       return !known.ended && !RunsHere(state, known, node) &&
                              known.allocation.cpus.Meets(cpus);
                     });
}

// An attempt that a state restored from a copy has as suspended was resumed since: it runs, on
// cores that the state counts as given back.
bool TookItsCoresBack(const ClusterState& state, const Job& job, const KnownAttempt& known,
                      const Registration& registration) {
  return WasRestored(registration.epoch_seen, state.epoch()) && !HoldsCores(*job.attempt) &&
         !known.ended && !known.frozen;
}

// What makes an attempt that is not to go on end, by what its node says; or nothing.
const char* WhyEnd(const ClusterState& state, const Job& job, NodeId node,
                   const KnownAttempt* known, const Registration& registration) {
  if (known != nullptr && TookItsCoresBack(state, job, *known, registration)) {
    return "it was resumed since the copy of the controller's state was made";
  }
  return LostItsCores(state, job, node, registration)
             ? "another job has had its cores since the copy of the controller's state was made"
             : nullptr;
}

// What should be under way on the node, and what of it is lost.
void Reconcile(const ClusterState& state, NodeId node, const Node* before,
               const Registration& registration, Time now, Transition& transition) {
  TransitionJobs jobs(state);
  for (const JobId id : state.JobsOn(node)) {
    const Job& job = jobs.Look(id);
    const NodeRun& run = job.attempt->runs[*RunOn(*job.attempt, node)];
    if (run.phase == RunPhase::kEnded) {
      continue;
    }
    const KnownAttempt* known = FindAttempt(registration.attempts, id, job.attempt->number);
    const std::optional<EndCause> lost =
        known != nullptr ? std::nullopt : WhyLost(state, run, before, registration);
    if (lost.has_value()) {
      RunEnded ended;
      ended.time = now;
      ended.cause = *lost;
      jobs.TakeFact(id, node, Report{id, job.attempt->number, run.reported + 1, ended}, now,
                    transition);
      continue;
    }
    const char* const end = job.attempt->ending == EndCause::kNone
                                ? WhyEnd(state, job, node, known, registration)
                                : nullptr;
    if (end != nullptr) {
      EndAttempt(job, {EndCause::kNodeLostRecord, end}, now, transition);
      continue;
    }
    for (const Effect& effect : ActionsFor(job)) {
      const bool here = std::visit(
          [&](const auto& order) {
            if constexpr (requires { order.node; }) {
              return order.node == node;
            }
            return false;
          },
          effect);
      if (here) {
        transition.effects.push_back(effect);
      }
    }
  }
}

const QuarantinedAttempt* FindQuarantined(const Node& node, JobId job, AttemptNumber attempt) {
  const auto found = std::find_if(node.quarantined.begin(), node.quarantined.end(),
                                  [&](const QuarantinedAttempt& other) {
                                    return other.job == job && other.attempt == attempt;
                                  });
  return found == node.quarantined.end() ? nullptr : &*found;
}

// What an unknown attempt holds, as far as this machine can hold it: the agent's word is not
// trusted further.
NodeAllocation Bounded(NodeId node, const Registration& registration, NodeAllocation allocation) {
  const Machine& machine = registration.machine;
  allocation.node = node;
  allocation.name = registration.name;
  allocation.cpus &= AllCpus(machine);
  allocation.memory = std::min(allocation.memory, machine.memory);
  for (GresCount& gres : allocation.gres) {
    gres.count = std::min(gres.count, CountOf(machine.gres, gres.name));
  }
  std::erase_if(allocation.gres, [](const GresCount& gres) { return gres.count == 0; });
  std::erase_if(allocation.gpus,
                [&](const GpuGrant& grant) { return grant.gpu >= machine.gpus.size(); });
  allocation.ranks.clear();
  return allocation;
}

// Its number was given out, whatever the state knows.
bool IsNews(const ClusterState& state, const KnownAttempt& known) {
  const Job* job = state.FindJob(known.job);
  return job != nullptr && known.attempt > job->last_attempt;
}

// What is kept away from others for an attempt that the agent has: of one that the state counts
// without its cores, these; all of one that the state does not know; nothing of others.
std::optional<NodeAllocation> KeptFor(const ClusterState& state, NodeId node,
                                      const Registration& registration, const KnownAttempt& known) {
  if (!RunsHere(state, known, node)) {
    if (known.ended && !IsNews(state, known)) {
      return std::nullopt;
    }
    // What has ended holds nothing.
    return Bounded(node, registration, known.ended ? NodeAllocation() : known.allocation);
  }
  if (!TookItsCoresBack(state, *state.FindJob(known.job), known, registration)) {
    return std::nullopt;
  }
  NodeAllocation cores;
  cores.cpus = known.allocation.cpus;
  return Bounded(node, registration, std::move(cores));
}

// Attempts that the state does not know are kept and counted; those that are gone are let go.
void Quarantine(const ClusterState& state, NodeId node, const Node* before,
                const Registration& registration, Time now, Transition& transition) {
  if (before != nullptr) {
    for (const QuarantinedAttempt& attempt : before->quarantined) {
      const KnownAttempt* known = FindAttempt(registration.attempts, attempt.job, attempt.attempt);
      if (known == nullptr || known->ended) {
        transition.events.emplace_back(AttemptQuarantined{node, attempt, true, now});
      }
    }
  }
  std::set<std::pair<JobId, AttemptNumber>> seen;
  for (const KnownAttempt& known : registration.attempts) {
    const bool already =
        !seen.emplace(known.job, known.attempt).second ||
        (before != nullptr && FindQuarantined(*before, known.job, known.attempt) != nullptr);
    std::optional<NodeAllocation> kept =
        already ? std::nullopt : KeptFor(state, node, registration, known);
    if (!kept.has_value()) {
      continue;
    }
    const QuarantinedAttempt unknown{known.job, known.attempt, *std::move(kept)};
    transition.events.emplace_back(AttemptQuarantined{node, unknown, false, now});
    if (known.ended) {
      transition.events.emplace_back(AttemptQuarantined{node, unknown, true, now});
    }
  }
}

// A faulty node takes nothing more until somebody has looked; one that is drained already keeps its
// reason.
void DrainFaulty(const Node& node, const std::string& fault, Time now, Transition& transition) {
  if (!fault.empty() && !node.drained) {
    transition.events.emplace_back(NodeDrained{node.id, true, fault, now});
    transition.effects.emplace_back(Replan{});
  }
}

// By a script of the site's that failed.
void DrainFaulty(const Node& node, const Report& report, Time now, Transition& transition) {
  if (const auto* ended = std::get_if<RunEnded>(&report.fact)) {
    DrainFaulty(node, ended->node_fault, now, transition);
  }
}

// The answer to a report of an attempt that is not in the state: it can never matter to a job any
// more.
Transition ReportOfUnknown(const Node& node, const TakeReport& command, Time now) {
  Transition transition;
  const Report& report = command.report;
  const QuarantinedAttempt* found = FindQuarantined(node, report.job, report.attempt);
  if (found != nullptr && std::holds_alternative<RunEnded>(report.fact)) {
    transition.events.emplace_back(AttemptQuarantined{node.id, *found, true, now});
    DrainFaulty(node, report, now, transition);
    transition.effects.emplace_back(Replan{});
  }
  transition.effects.emplace_back(Acknowledge{node.id, report.job, report.attempt, report.index});
  return transition;
}

// The numbers of unknown attempts are used up, so none may be beyond what a cluster gives out.
absl::Status CheckUnknown(const ClusterState& state, const Registration& registration) {
  constexpr std::uint32_t kAttemptMost = 1'000'000;
  const std::uint64_t beyond = state.next_job().value() + kJobsSkipped;
  for (const KnownAttempt& known : registration.attempts) {
    const Job* job = state.FindJob(known.job);
    const bool ours = job != nullptr && known.attempt <= job->last_attempt;
    if (!ours && (known.job.value() >= beyond || known.attempt.value() > kAttemptMost)) {
      return absl::InvalidArgumentError(
          absl::StrCat("node ", registration.name, ": its agent has attempt ",
                       ToString(known.attempt), " of job ", ToString(known.job),
                       ", which this cluster cannot have; give the agent a new --state"));
    }
  }
  return absl::OkStatus();
}

constexpr std::size_t kNodeNameBytesMax = 255;

// What the rest of the core relies on. A compromised agent harms its own node alone.
absl::Status CheckRegistration(const Registration& registration) {
  const std::string& name = registration.name;
  if (name.empty() || name.size() > kNodeNameBytesMax ||
      std::any_of(name.begin(), name.end(), [](char c) { return c <= 0x20 || c == 0x7f; })) {
    return absl::InvalidArgumentError(
        "--name: a node's name has 1 to 255 printable characters and no space");
  }
  constexpr std::size_t kFeaturesMax = 256;
  if (registration.features.size() > kFeaturesMax ||
      !std::all_of(registration.features.begin(), registration.features.end(), IsFeatureName)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", name, ": --features: at most ", kFeaturesMax, " names of letters, digits, . _ -"));
  }
  constexpr std::size_t kAttemptsMax = 8192;
  if (registration.attempts.size() > kAttemptsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", name, ": its agent has more than ", kAttemptsMax, " attempts"));
  }
  if (const absl::Status machine = CheckMachine(registration.machine); !machine.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", name, ": ", std::string(machine.message()), "; check its --topology"));
  }
  return absl::OkStatus();
}

}  // namespace

Transition On(const ClusterState& state, const RegisterAgent& command, Time now,
              const SchedulerConfig& config) {
  const Registration& registration = command.registration;
  Transition transition;
  transition.status = CheckRegistration(registration);
  transition.status.Update(CheckUnknown(state, registration));
  if (!transition.status.ok()) {
    return transition;
  }
  const Node* before = state.FindNode(registration.name);
  if (before != nullptr && before->connected && before->instance != registration.instance) {
    transition.status = absl::AlreadyExistsError(
        absl::StrCat("node ", registration.name, ": another agent of that name is connected; ",
                     "give this one another --name"));
    return transition;
  }
  if (registration.epoch_seen > state.epoch()) {
    transition.status = absl::FailedPreconditionError(absl::StrCat(
        "node ", registration.name, ": its agent has seen epoch ",
        ToString(registration.epoch_seen), ", this controller is at ", ToString(state.epoch()),
        ": the state directory is older than the cluster; if it was restored from a copy, ",
        "stop musterd and run it once with --restored"));
    return transition;
  }
  transition.node = before != nullptr ? before->id : state.node_table().next();
  Registration stored = registration;
  stored.attempts.clear();
  std::sort(stored.features.begin(), stored.features.end());
  stored.features.erase(std::unique(stored.features.begin(), stored.features.end()),
                        stored.features.end());
  KeepAllowedMig(MigClasses(config.mig).Of(registration.name), stored.machine);
  stored.layout.text = Printable(stored.layout.text);
  const Registration known = stored;
  transition.events.emplace_back(NodeRegistered{transition.node, std::move(stored), now});
  Reconcile(state, transition.node, before, registration, now, transition);
  HoldWhatRunsTooOften(state, config, transition);
  Quarantine(state, transition.node, before, registration, now, transition);
  if (before != nullptr) {
    NoticeReboot(state, *before, registration.boot_id, now, transition);
    NoticePower(state, *before, registration.boot_id, now, transition);
    NoticeLayouts(*before, known, now, transition);
  }
  const NodeHealth& health = state.health().Of(transition.node);
  const bool again = health.running &&
                     (health.kind != HealthKind::kReboot || health.boot_id == registration.boot_id);
  if (again) {
    transition.effects.emplace_back(CheckHealth{transition.node});
  }
  transition.effects.emplace_back(Replan{});
  return transition;
}

Transition On(const ClusterState& state, const LoseAgent& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  const Node* node = state.FindNode(command.node);
  if (node != nullptr && node->connected) {
    transition.events.emplace_back(
        NodeLost{node->id, now, now - std::max(command.silent, Duration(0))});
    transition.effects.emplace_back(Replan{});
  }
  return transition;
}

Transition On(const ClusterState& state, const TakeReport& command, Time now,
              const SchedulerConfig& config) {
  Transition transition;
  const Node* node = state.FindNode(command.node);
  if (node == nullptr) {
    transition.status = absl::NotFoundError("report from a node that is not registered");
    return transition;
  }
  const Report& report = command.report;
  const Job* job = state.FindJob(report.job);
  const std::optional<std::size_t> position =
      job != nullptr && job->attempt.has_value() && job->attempt->number == report.attempt
          ? RunOn(*job->attempt, node->id)
          : std::nullopt;
  const QuarantinedAttempt* kept = FindQuarantined(*node, report.job, report.attempt);
  if (!position.has_value() ||
      (kept != nullptr && job->attempt->runs[*position].phase == RunPhase::kEnded)) {
    return ReportOfUnknown(*node, command, now);
  }
  const NodeRun& run = job->attempt->runs[*position];
  if (run.phase != RunPhase::kEnded && report.index > run.reported + 1) {
    transition.status = absl::OutOfRangeError(absl::StrCat(
        "job ", ToString(job->id), ": report ", report.index, " came before ", run.reported + 1));
    return transition;
  }
  // A node that lost its power may have forgotten reports that it had sent, and count its last one
  // among them.
  const bool is_end = std::holds_alternative<RunEnded>(report.fact);
  if ((report.index == run.reported + 1 || is_end) && run.phase != RunPhase::kEnded) {
    Report taken = report;
    taken.index = run.reported + 1;
    TransitionJobs(state).TakeFact(job->id, node->id, taken, now, transition);
    if (kept != nullptr && is_end) {
      transition.events.emplace_back(AttemptQuarantined{node->id, *kept, true, now});
      transition.effects.emplace_back(Replan{});
    }
    if (const auto* suspended = std::get_if<RunSuspended>(&report.fact);
        suspended != nullptr && suspended->suspension > job->attempt->suspension &&
        job->attempt->ending == EndCause::kNone) {
      // Its cores may be another's that the state does not know, or the other way round.
      EndAttempt(*job,
                 {EndCause::kNodeLostRecord,
                  "it was suspended or resumed since the copy of "
                  "the controller's state was made"},
                 now, transition);
      transition.effects.emplace_back(Replan{});
    }
    HoldWhatRunsTooOften(state, config, transition);
    DrainFaulty(*node, report, now, transition);
  }
  transition.effects.emplace_back(Acknowledge{node->id, report.job, report.attempt, report.index});
  return transition;
}

Transition On(const ClusterState& state, const TakeNodeFault& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  if (const Node* const node = state.FindNode(command.node)) {
    if (!node->drained && !command.text.empty()) {
      NoticeDrain(state, node->id, now, transition);
    }
    DrainFaulty(*node, command.text, now, transition);
  }
  return transition;
}

Transition On(const ClusterState& state, const TakeGpuOccupants& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  const Node* const node = state.FindNode(command.node);
  if (node == nullptr) {
    return transition;
  }
  GpuOccupants occupants;
  for (const GpuOccupant& occupant : command.occupants) {
    if (occupant.gpu < node->machine->gpus.size() && occupants.size() < kGpuOccupantsMax) {
      occupants.push_back(occupant);
    }
  }
  if (occupants != node->gpu_occupants) {
    transition.events.emplace_back(GpusOccupied{node->id, std::move(occupants), now});
    transition.effects.emplace_back(Replan{});
  }
  return transition;
}

// The attempt ends on every node: those that have it are told so, the others when they come.
Transition On(const ClusterState& state, const FailLaunch& command, Time now,
              const SchedulerConfig&) {
  Transition transition;
  const Job* job = state.FindJob(command.job);
  if (job != nullptr && job->attempt.has_value() && job->attempt->number == command.attempt &&
      job->attempt->ending == EndCause::kNone) {
    EndAttempt(*job, {EndCause::kLaunchFailed, command.text}, now, transition);
    transition.effects.emplace_back(Replan{});
  }
  return transition;
}

}  // namespace muster::core
