#pragma once

// Defects that can be planted in a simulated life, to see that they are found.
//
// Invariants: a name never changes its meaning; a row for each. The product has no switch for any:
// they stand in what the simulation puts in its place, or falsify what reaches the core.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/effect.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/node.h"

namespace muster::sim {

enum class LifeDefect : std::uint8_t {
  kNone,
  kBootForgotten,      // another boot of a node counts as the same
  kInstanceForgotten,  // so does a node that was set up again
  kEndByNumber,        // an end is ignored that has the number of an earlier report
  kForeignReport,      // a report counts whichever node sent it
  kGapTaken,           // a report counts though those before it did not come
  kAnsweredEarly,      // answers leave before the commit
  kLeaseUnfenced,      // an elastic job goes on though the controller has not heard its node
  kLaunchedAgain,      // an agent begins again what runs there
  kReportedOnce,       // an agent sends nothing again that was lost with a connection
  kEndUnheard,         // an agent ignores an end that comes before its job has begun there
  kLimitEarly,         // an agent ends jobs after half of their limit
  kRebootUnsaid,       // an agent does not say that its jobs went down with their node
  kTokenForgotten,     // a controller that was started again does not know a repeated submission
  kTailLost,           // a controller that was started again lacks its last commit
  kAcknowledgedEarly,  // reports are acknowledged before the commit
  kLossTakenForEnd,    // what runs on a node that is silent counts as ended
  kOrderUnrepeated,    // an agent that is back is not given the orders again that it may lack
  kEndUnrepeated,      // nor is it told again what is to end
  kRestoredUnheld,     // a controller with an old copy of its state lets jobs start at once
  kNumbersAgain,       // and gives out numbers of jobs again
};

struct LifeDefectRow {
  LifeDefect defect;
  std::string_view name;
  std::string_view scenario;  // that finds it
};

inline constexpr std::array<LifeDefectRow, 20> kLifeDefects = {{
    {LifeDefect::kBootForgotten, "boot_forgotten", "everything"},
    {LifeDefect::kInstanceForgotten, "instance_forgotten", "agents_die"},
    {LifeDefect::kEndByNumber, "end_by_number", "agents_die"},
    {LifeDefect::kForeignReport, "foreign_report", "liars"},
    {LifeDefect::kGapTaken, "gap_taken", "liars"},
    {LifeDefect::kAnsweredEarly, "answered_early", "controller_dies"},
    {LifeDefect::kLeaseUnfenced, "lease_unfenced", "elastic"},
    {LifeDefect::kLaunchedAgain, "launched_again", "everything"},
    {LifeDefect::kReportedOnce, "reported_once", "agents_die"},
    {LifeDefect::kEndUnheard, "end_unheard", "everything"},
    {LifeDefect::kLimitEarly, "limit_early", "quiet"},
    {LifeDefect::kRebootUnsaid, "reboot_unsaid", "agents_die"},
    {LifeDefect::kTokenForgotten, "token_forgotten", "controller_dies"},
    {LifeDefect::kTailLost, "tail_lost", "controller_dies"},
    {LifeDefect::kAcknowledgedEarly, "acknowledged_early", "controller_dies"},
    {LifeDefect::kLossTakenForEnd, "loss_taken_for_end", "everything"},
    {LifeDefect::kOrderUnrepeated, "order_unrepeated", "everything"},
    {LifeDefect::kEndUnrepeated, "end_unrepeated", "everything"},
    {LifeDefect::kRestoredUnheld, "restored_unheld", "restored"},
    {LifeDefect::kNumbersAgain, "numbers_again", "restored"},
}};

constexpr std::optional<LifeDefect> LifeDefectOf(std::string_view name) {
  for (const LifeDefectRow& row : kLifeDefects) {
    if (row.name == name) {
      return row.defect;
    }
  }
  return std::nullopt;
}

// What a controller with the defect makes of what arrives. `restarted`: it has died before.
void Plant(LifeDefect defect, const core::ClusterState& state, bool restarted, Command* command);
// The ends that it imagines of what runs on a node.
std::vector<Report> ImaginedEnds(LifeDefect defect, const core::ClusterState& state, NodeId node,
                                 Time now);
void Plant(LifeDefect defect, const core::ClusterState& state, Registration* registration);
// Of what follows from an epoch that begins.
void Plant(LifeDefect defect, std::vector<Event>* events);
// And of what follows from a registration.
void Plant(LifeDefect defect, std::vector<Effect>* effects);
// False: it acknowledges the report, and does nothing else.
bool Plant(LifeDefect defect, const core::ClusterState& state, NodeId* node, Report* report);

}  // namespace muster::sim
