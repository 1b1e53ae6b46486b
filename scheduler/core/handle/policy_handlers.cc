#include "scheduler/core/handle/policy_handlers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/core/policy/job_access.h"
#include "scheduler/core/policy/policy_check.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::core {
namespace {

constexpr std::size_t kObjectsMax = 100'000;
constexpr const char* kRawUsage = "RawUsage";

std::string Label(PolicyKind kind, const std::string& name) {
  return absl::StrCat(Name(kind), " ", name);
}

absl::Status CheckNames(PolicyKind kind, const std::string& name) {
  const std::size_t slash = name.find('/');
  if (kind == PolicyKind::kAssociation && slash != std::string::npos) {
    RETURN_IF_ERROR(CheckPolicyName(name.substr(0, slash)));
    return CheckPolicyName(name.substr(slash + 1));
  }
  return CheckPolicyName(name);
}

absl::Status CheckUnused(const ClusterState& state, PolicyKind kind, const std::string& name) {
  const auto& counts = state.policy().snapshot().usage.counts;
  const auto found = counts.find(KeyOf(kind, name));
  if (found == counts.end() || found->second.submitted == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(Label(kind, name), ": ", found->second.submitted,
                   found->second.submitted == 1 ? " job names it" : " jobs name it",
                   "; cancel them or let them end first"));
}

PolicyChanged Changed(PolicyObject object, std::string text, const User& by, Time now) {
  PolicyChanged event;
  event.object = std::move(object);
  event.text = std::move(text);
  event.by = by;
  event.time = now;
  return event;
}

PolicyChanged Deleted(PolicyObject object, const User& by, Time now) {
  PolicyChanged event = Changed(std::move(object), "deleted", by, now);
  event.deleted = true;
  return event;
}

// Operators change everything; a coordinator who belongs to the accounts coordinated, and with
// which shares and limits. Which QOS their jobs may name and what was used is the site's to say.
absl::Status CheckMay(const SitePolicy& site, const ChangePolicy& command,
                      const SchedulerConfig& config) {
  if (IsOperator(command.by, config)) {
    return absl::OkStatus();
  }
  const std::string account = command.name.substr(0, command.name.find('/'));
  if (command.kind != PolicyKind::kAssociation || !IsBelow(site, account, command.by.coordinates)) {
    return absl::PermissionDeniedError(
        absl::StrCat(Label(command.kind, command.name), ": is for operators",
                     command.kind == PolicyKind::kAssociation
                         ? absl::StrCat(", and for coordinators of account ", account)
                         : std::string()));
  }
  for (const Assignment& assignment : command.assignments) {
    if (assignment.key == kRawUsage || PolicyKey(command.kind, assignment.key) == "QOS") {
      return absl::PermissionDeniedError(absl::StrCat(Label(command.kind, command.name), ": ",
                                                      assignment.key, " is for operators to set"));
    }
  }
  return absl::OkStatus();
}

// "RawUsage=0" forgets what was spent; it is no property of the object.
bool TakeSpentReset(std::vector<Assignment>& assignments) {
  const auto kept = std::remove_if(assignments.begin(), assignments.end(), [](const auto& said) {
    return said.key == kRawUsage && said.value == "0";
  });
  const bool reset = kept != assignments.end();
  assignments.erase(kept, assignments.end());
  return reset;
}

Transition Delete(const ClusterState& state, const ChangePolicy& command, Time now) {
  if (!command.assignments.empty()) {
    return Refused(absl::InvalidArgumentError("delete takes a name and nothing else"));
  }
  if (absl::Status unused = CheckUnused(state, command.kind, command.name); !unused.ok()) {
    return Refused(std::move(unused));
  }
  const SitePolicy& site = state.policy().site();
  SitePolicy after = site;
  Erase(after, command.kind, command.name);
  if (const auto problem = FindProblem(after)) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat(Label(command.kind, command.name), ": is needed: ", ToSentence(*problem))));
  }
  Transition transition;
  transition.events.emplace_back(Deleted(Get(site, command.kind, command.name), command.by, now));
  transition.effects.emplace_back(Replan{});
  return transition;
}

// True when the object is what adding it would make: a retry of an add that was done.
bool IsAsAsked(const SitePolicy& site, const ChangePolicy& command) {
  const PolicyObject there = Get(site, command.kind, command.name);
  PolicyObject asked = MakePolicyObject(command.kind, command.name);
  SetConfigured(asked, IsConfigured(there));
  for (const Assignment& assignment : InTableOrder(command.kind, command.assignments)) {
    if (!Assign(asked, assignment).ok()) {
      return false;
    }
  }
  return asked == there;
}

// What was there before, or an object that says nothing.
PolicyObject Before(const SitePolicy& site, PolicyKind kind, const std::string& name) {
  return Has(site, kind, name) ? Get(site, kind, name) : MakePolicyObject(kind, name);
}

Transition AddOrSet(const ClusterState& state, const ChangePolicy& command, Time now) {
  const SitePolicy& site = state.policy().site();
  std::vector<Assignment> assignments = InTableOrder(command.kind, command.assignments);
  const bool reset = TakeSpentReset(assignments);
  const PolicyObject before = Before(site, command.kind, command.name);
  PolicyObject object = before;
  for (const Assignment& assignment : assignments) {
    if (absl::Status said = Assign(object, assignment); !said.ok()) {
      return Refused(std::move(said));
    }
  }
  if (auto* reservation = std::get_if<Reservation>(&object)) {
    if (absl::Status chosen = ChooseNodes(state, now, reservation); !chosen.ok()) {
      return Refused(std::move(chosen));
    }
  }
  SitePolicy after = site;
  Put(after, object);
  if (const auto problem = FindProblem(after)) {
    return Refused(absl::InvalidArgumentError(ToSentence(*problem)));
  }
  const bool is_new = !Has(site, command.kind, command.name);
  Transition transition;
  if (!is_new && object == before && !reset) {
    return transition;
  }
  std::string text = DescribeChange(MakePolicyObject(command.kind, command.name), object);
  text = is_new ? absl::StrCat("added", text.empty() ? "" : " ", text)
                : DescribeChange(before, object);
  if (reset) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", "RawUsage=0");
  }
  PolicyChanged event = Changed(std::move(object), std::move(text), command.by, now);
  event.spent_reset = reset;
  transition.events.emplace_back(std::move(event));
  transition.effects.emplace_back(Replan{});
  return transition;
}

bool InWindow(const Reservation& a, const Reservation& b) {
  const std::optional<Window> met = WindowAt(b, a.start);
  if (met.has_value() && met->start < a.end) {
    return true;
  }
  const std::optional<Window> back = WindowAt(a, b.start);
  return back.has_value() && back->start < b.end;
}

// The nodes of reservations that the new one may not lie over.
std::set<NodeId> TakenNodes(const ClusterState& state, const Reservation& reservation) {
  std::set<NodeId> taken;
  const PolicySnapshot& policy = state.policy().snapshot();
  for (const auto& [name, group] : policy.nodes->reservations) {
    const Reservation& other = *FindReservation(*policy.site, name);
    if (name == reservation.name || !InWindow(reservation, other) ||
        ((reservation.flags | other.flags) & kMaint) != 0) {
      continue;
    }
    for (const auto& [id, node] : state.nodes()) {
      if (group.Has(id)) {
        taken.insert(id);
      }
    }
  }
  return taken;
}

// The first job on the node that may still run when the reservation begins.
const Job* JobInTheWay(const ClusterState& state, NodeId node, const Reservation& reservation,
                       Time now) {
  const std::optional<Window> window = WindowAt(reservation, now);
  for (const JobId id : state.JobsOn(node)) {
    const Job& job = *state.FindJob(id);
    if (window.has_value() && job.spec->reservation != reservation.name &&
        EndBy(*job.spec, CountedFrom(*job.attempt, now)) > window->start) {
      return &job;
    }
  }
  return nullptr;
}

// Whether a reservation may have the node that it names; `busy` is a job in its way there.
absl::Status CheckNamed(const Node& node, bool is_taken, const Job* busy) {
  if (is_taken) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Nodes: ", node.name, " is in another reservation at that time; see muster reservation"));
  }
  if (busy != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("Nodes: job ", ToString(busy->id), " may still run on ", node.name,
                     " by then; choose a later StartTime or Flags=IGNORE_JOBS"));
  }
  return absl::OkStatus();
}

// A configured reservation of a number of nodes keeps those that were chosen when it was made.
absl::Status SettleNodes(const ClusterState& state, Time now, const PolicyObject& before,
                         PolicyObject& object) {
  auto* reservation = std::get_if<Reservation>(&object);
  if (reservation == nullptr) {
    return absl::OkStatus();
  }
  const auto* old = std::get_if<Reservation>(&before);
  if (reservation->node_count > 0 && old->node_count > 0) {
    reservation->nodes = old->nodes;
  }
  return reservation->nodes.empty() ? ChooseNodes(state, now, reservation) : absl::OkStatus();
}

}  // namespace

absl::Status ChooseNodes(const ClusterState& state, Time now, Reservation* reservation) {
  if (reservation->start == kNoTime || reservation->end <= reservation->start) {
    return absl::OkStatus();  // reported by core/policy/policy_check
  }
  const bool choose = reservation->node_count > 0 && reservation->nodes.empty();
  const bool ignore = (reservation->flags & kIgnoreJobs) != 0;
  const std::set<NodeId> taken = TakenNodes(state, *reservation);
  std::set<std::string> named;
  if (!choose && reservation->nodes != "ALL") {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, NodeNames(reservation->nodes));
    named.insert(names.begin(), names.end());
  }
  std::vector<std::string> chosen;
  for (const auto& [id, node] : state.nodes()) {
    if (!choose && reservation->nodes != "ALL" && !named.contains(node.name)) {
      continue;
    }
    const Job* busy = ignore ? nullptr : JobInTheWay(state, id, *reservation, now);
    if (choose) {
      if (busy == nullptr && !taken.contains(id) && chosen.size() < reservation->node_count) {
        chosen.push_back(node.name);
      }
    } else {
      RETURN_IF_ERROR(CheckNamed(node, taken.contains(id), busy));
    }
  }
  if (!choose) {
    return absl::OkStatus();
  }
  if (chosen.size() < reservation->node_count) {
    return absl::FailedPreconditionError(
        absl::StrCat("NodeCnt: only ", chosen.size(), " of ", reservation->node_count,
                     " nodes are free of jobs and reservations then"));
  }
  reservation->nodes = absl::StrJoin(chosen, ",");
  return absl::OkStatus();
}

Transition On(const ClusterState& state, const ChangePolicy& command, Time now,
              const SchedulerConfig& config) {
  const SitePolicy& site = state.policy().site();
  if (absl::Status may = CheckMay(site, command, config); !may.ok()) {
    return Refused(std::move(may));
  }
  if (absl::Status name = CheckNames(command.kind, command.name); !name.ok()) {
    return Refused(std::move(name));
  }
  const bool there = Has(site, command.kind, command.name);
  if (command.verb == PolicyVerb::kAdd && there && !IsAsAsked(site, command)) {
    return Refused(absl::AlreadyExistsError(
        absl::StrCat(Label(command.kind, command.name), ": is there already; change it with set")));
  }
  if (command.verb != PolicyVerb::kAdd && !there) {
    return Refused(absl::NotFoundError(
        absl::StrCat(Label(command.kind, command.name), ": there is none of that name")));
  }
  return command.verb == PolicyVerb::kDelete ? Delete(state, command, now)
                                             : AddOrSet(state, command, now);
}

Transition On(const ClusterState& state, const ConfigurePolicy& command, Time now,
              const SchedulerConfig& config) {
  if (command.objects.size() > kObjectsMax) {
    return Refused(absl::InvalidArgumentError("the configuration names too many objects"));
  }
  const SitePolicy& site = state.policy().site();
  SitePolicy after = site;
  std::set<std::pair<PolicyKind, std::string>> named;
  Transition transition;
  std::vector<Event> set;
  for (PolicyObject object : command.objects) {
    SetConfigured(object, true);
    const PolicyKind kind = KindOf(object);
    const std::string name = NameOf(object);
    named.insert({kind, name});
    const PolicyObject before = Before(site, kind, name);
    if (absl::Status settled = SettleNodes(state, now, before, object); !settled.ok()) {
      return Refused(std::move(settled));
    }
    Put(after, object);
    if (!Has(site, kind, name) || !(object == before)) {
      const std::string change = DescribeChange(before, object);
      set.emplace_back(
          Changed(std::move(object),
                  absl::StrCat("by ", command.source, change.empty() ? "" : ": ", change),
                  command.by, now));
    }
  }
  std::vector<Event> gone;
  for (const PolicyObject& object : ObjectsOf(site)) {
    const PolicyKind kind = KindOf(object);
    const std::string name = NameOf(object);
    if (!IsConfigured(object) || named.contains({kind, name})) {
      continue;
    }
    if (absl::Status unused = CheckUnused(state, kind, name); !unused.ok()) {
      return Refused(absl::FailedPreconditionError(
          absl::StrCat(command.source, " names it no more: ", std::string(unused.message()))));
    }
    Erase(after, kind, name);
    gone.emplace_back(Deleted(object, command.by, now));
  }
  if (const auto problem = FindProblem(after)) {
    return Refused(absl::InvalidArgumentError(ToSentence(*problem)));
  }
  transition.events = std::move(set);
  transition.events.insert(transition.events.end(), gone.begin(), gone.end());
  if (config.priority.half_life != state.usage().half_life()) {
    transition.events.emplace_back(HalfLifeSet{config.priority.half_life, now});
  }
  transition.effects.emplace_back(Replan{});  // other settings may have changed too
  return transition;
}

}  // namespace muster::core
