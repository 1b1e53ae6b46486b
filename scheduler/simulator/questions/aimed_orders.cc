#include "scheduler/simulator/questions/aimed_orders.h"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/core/mig/mig_layout.h"
#include "scheduler/simulator/questions/aimed_commands.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/spoiling.h"

namespace muster::sim {
namespace {

constexpr const char* kLinkEnds[] = {"top", "row0", "row1", "leaf0", "leaf1", "leaf2"};

Actor Superuser() {
  return Actor(User{0, 0, "root"});
}

// A GPU of a node is to be divided otherwise for a job that waits.
Command DrawDivision(const core::ClusterState& state, RandomSequence& random) {
  LayOutGpus command;
  const Job* const job = DrawJob(state, random);
  const Node* const node = DrawNode(state, random);
  if (job == nullptr || node == nullptr || node->machine->mig.empty()) {
    return command;
  }
  const MigGpu& gpu = node->machine->mig[random.Below(node->machine->mig.size())];
  GpuLayout layout;
  layout.gpu = gpu.whole.uuid;
  layout.os_index = gpu.whole.os_index;
  layout.job = job->id;
  layout.phase = Chance(random, 500) ? LayoutPhase::kWanted : LayoutPhase::kOrdered;
  const char* const profile = OneOf(random, {"1g.10gb", "3g.40gb", "2g.20gb"});
  layout.instances = core::FindLayout(gpu.profiles, {{profile, 1 + Draw(random, 7)}}, {})
                         .value_or(std::vector<MigInstance>());
  command.wishes.push_back({node->id, std::move(layout)});
  return command;
}

// The site as it is, but for a few things that the file says otherwise.
Command DrawSiteFile(const core::ClusterState& state, Time now, RandomSequence& random) {
  ConfigurePolicy configured{{}, User{0, 0, "root"}, "muster.toml"};
  for (PolicyObject& object : ObjectsOf(state.policy().site())) {
    if (Chance(random, 500)) {
      continue;
    }
    if (Chance(random, 150)) {
      std::visit([&random](auto& held) { SpoilOne(random, &held); }, object);
    }
    if (auto* partition = std::get_if<Partition>(&object); partition != nullptr) {
      if (Chance(random, 50)) {
        partition->min_nodes = 3;
        partition->max_nodes = 2;
      }
      if (Chance(random, 50)) {
        partition->max_time = std::chrono::minutes(1 + Draw(random, 3));
        partition->default_time = std::chrono::minutes(2);
      }
      partition->is_default = partition->is_default || Chance(random, 30);
      partition->exclusive = partition->exclusive != Chance(random, 50);
      if (Chance(random, 50)) {
        partition->nodes = OneOf(random, {"", "node1", "x["});
      }
    }
    configured.objects.push_back(std::move(object));
  }
  if (Chance(random, 500)) {
    Reservation reservation;
    reservation.name = absl::StrCat("configured-", Draw(random, 2));
    reservation.start = now + std::chrono::seconds(Draw(random, 100));
    reservation.end = reservation.start + std::chrono::minutes(Draw(random, 3));
    reservation.users = {"root"};
    reservation.flags = OneOf<std::uint32_t>(random, {0, kMaint, kIgnoreJobs, kDailyRepeat});
    reservation.node_count = Draw(random, 3);
    reservation.nodes = reservation.node_count > 0 ? "" : OneOf(random, {"node1", "ALL", "", "x["});
    configured.objects.emplace_back(std::move(reservation));
  }
  return configured;
}

Command DrawReservationChange(const core::ClusterState& state, Time now, RandomSequence& random) {
  const auto& reservations = state.policy().site().reservations;
  ChangePolicy change{PolicyVerb::kSet, PolicyKind::kReservation, "reserved-1", {}, Superuser()};
  if (!reservations.empty()) {
    change.name = std::next(reservations.begin(),
                            static_cast<std::ptrdiff_t>(random.Below(reservations.size())))
                      ->first;
  } else {
    change.verb = PolicyVerb::kAdd;
    change.assignments = {{"Duration", "2"}, {"Nodes", "ALL"}, {"Users", "root,ada"}};
  }
  if (Chance(random, 700)) {
    change.assignments.push_back(
        {"StartTime", MomentText(now + std::chrono::seconds(Draw(random, 240)))});
  }
  if (Chance(random, 500)) {
    change.assignments.push_back(
        {"Flags", OneOf<std::string>(random, {"MAINT,IGNORE_JOBS", "FLEX,IGNORE_JOBS", "MAINT",
                                              "DAILY,IGNORE_JOBS", "WEEKLY,MAINT,IGNORE_JOBS"})});
  }
  if (Chance(random, 200)) {
    change.assignments.push_back({"Duration", absl::StrCat(Draw(random, 4))});
  }
  return change;
}

}  // namespace

Command DrawOrdered(const core::ClusterState& state, Time now, RandomSequence& random) {
  const Node* const node = DrawNode(state, random);
  if (node == nullptr) {
    return TickHealth{};
  }
  switch (random.Below(14)) {
    case 13: {
      DrainNode link;
      link.name = OneOf(random, kLinkEnds);
      link.link_to = OneOf(random, kLinkEnds);
      link.reason = "a cable is loose";
      link.by = Superuser();
      return link;
    }
    case 0: {
      DrainNode drain;
      drain.name = node->name;
      drain.drained = Chance(random, 600);
      drain.reason = "to see what happens";
      drain.deadline = Chance(random, 600) ? now + std::chrono::seconds(Draw(random, 60)) : kNoTime;
      drain.by = Superuser();
      return drain;
    }
    case 1:
      return TickHealth{};
    case 2:
      return TickElastic{};
    case 3:
      return CheckNodeHealth{node->name, HealthKind::kQuick, Chance(random, 500)};
    case 4:
      return RebootNode{node->name, "a new kernel", Chance(random, 500), false, false};
    case 5:
      return SwitchNodes{{node->id}, {}};
    case 6:
      return SwitchNodes{{}, {node->id}};
    case 7:
      return BeginEpoch{Chance(random, 700)};
    case 8:
      return DrawReservationChange(state, now, random);
    case 9:
      return DrawSiteFile(state, now, random);
    case 10:
      return ForgetNode{node->name};
    default:
      return DrawDivision(state, random);
  }
}

}  // namespace muster::sim
