#pragma once

// Defects that can be planted in a simulated life, to see that they are found.
//
// Invariants: a name never changes its meaning; a row for each. The product has no switch for any:
// they stand in what the simulation puts in its place, or falsify what reaches the core.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/core/state/cluster_state.h"
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
};

struct LifeDefectRow {
  LifeDefect defect;
  std::string_view name;
  std::string_view scenario;  // that finds it
};

inline constexpr std::array<LifeDefectRow, 8> kLifeDefects = {{
    {LifeDefect::kBootForgotten, "boot_forgotten", "everything"},
    {LifeDefect::kInstanceForgotten, "instance_forgotten", "agents_die"},
    {LifeDefect::kEndByNumber, "end_by_number", "agents_die"},
    {LifeDefect::kForeignReport, "foreign_report", "liars"},
    {LifeDefect::kGapTaken, "gap_taken", "liars"},
    {LifeDefect::kAnsweredEarly, "answered_early", "controller_dies"},
    {LifeDefect::kLeaseUnfenced, "lease_unfenced", "elastic"},
    {LifeDefect::kLaunchedAgain, "launched_again", "everything"},
}};

constexpr std::optional<LifeDefect> LifeDefectOf(std::string_view name) {
  for (const LifeDefectRow& row : kLifeDefects) {
    if (row.name == name) {
      return row.defect;
    }
  }
  return std::nullopt;
}

// What a controller with the defect makes of what arrives.
void Plant(LifeDefect defect, const core::ClusterState& state, Registration* registration);
// False: it acknowledges the report, and does nothing else.
bool Plant(LifeDefect defect, const core::ClusterState& state, NodeId* node, Report* report);

}  // namespace muster::sim
