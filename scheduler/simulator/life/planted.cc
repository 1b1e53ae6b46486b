#include "scheduler/simulator/life/planted.h"

#include <variant>

namespace muster::sim {
namespace {

// The run that a report tells of; null when the state has none on the node.
const NodeRun* RunOf(const Job& job, NodeId node, const Report& report) {
  if (!job.attempt.has_value() || job.attempt->number != report.attempt) {
    return nullptr;
  }
  for (const NodeRun& run : job.attempt->runs) {
    const auto at = static_cast<std::size_t>(&run - job.attempt->runs.data());
    if (job.attempt->allocation.nodes[at].node == node) {
      return run.phase == RunPhase::kEnded ? nullptr : &run;
    }
  }
  return nullptr;
}

}  // namespace

void Plant(LifeDefect defect, const core::ClusterState& state, bool restarted, Command* command) {
  auto* const submitted = std::get_if<SubmitJob>(command);
  if (defect == LifeDefect::kTokenForgotten && restarted && submitted != nullptr &&
      state.FindToken(submitted->token) != nullptr) {
    submitted->token += "'";
  }
}

std::vector<Report> ImaginedEnds(LifeDefect defect, const core::ClusterState& state, NodeId node,
                                 Time now) {
  std::vector<Report> ends;
  if (defect != LifeDefect::kLossTakenForEnd) {
    return ends;
  }
  for (const auto& [id, job] : state.jobs()) {
    if (!job.attempt.has_value()) {
      continue;
    }
    Report report{id, job.attempt->number, 0, RunEnded()};
    if (const NodeRun* run = RunOf(job, node, report); run != nullptr) {
      RunEnded ended;
      ended.time = now;
      report.index = run->reported + 1;
      report.fact = ended;
      ends.push_back(report);
    }
  }
  return ends;
}

void Plant(LifeDefect defect, std::vector<Event>* events) {
  if (defect == LifeDefect::kRestoredUnheld) {
    std::erase_if(*events, [](const Event& event) {
      return std::holds_alternative<JobHeld>(event) || std::holds_alternative<NodeDrained>(event);
    });
  }
  for (Event& event : *events) {
    auto* const began = std::get_if<EpochBegan>(&event);
    if (began != nullptr && defect == LifeDefect::kNumbersAgain) {
      began->next_job = JobId();
    }
  }
}

void Plant(LifeDefect defect, std::vector<Effect>* effects) {
  std::erase_if(*effects, [defect](const Effect& effect) {
    return (defect == LifeDefect::kOrderUnrepeated && std::holds_alternative<Launch>(effect)) ||
           (defect == LifeDefect::kEndUnrepeated && std::holds_alternative<Terminate>(effect));
  });
}

void Plant(LifeDefect defect, const core::ClusterState& state, Registration* registration) {
  const Node* known = state.FindNode(registration->name);
  if (known != nullptr && defect == LifeDefect::kBootForgotten) {
    registration->boot_id = known->boot_id;
  }
  if (known != nullptr && defect == LifeDefect::kInstanceForgotten) {
    registration->instance = known->instance;
    registration->boot_id = known->boot_id;
  }
}

bool Plant(LifeDefect defect, const core::ClusterState& state, NodeId* node, Report* report) {
  const Job* job = state.FindJob(report->job);
  if (job == nullptr || !job->attempt.has_value()) {
    return true;
  }
  const NodeRun* run = RunOf(*job, *node, *report);
  if (defect == LifeDefect::kForeignReport && run == nullptr) {
    const NodeId first = job->attempt->allocation.nodes.front().node;
    if (const NodeRun* theirs = RunOf(*job, first, *report); theirs != nullptr) {
      *node = first;
      report->index = theirs->reported + 1;
    }
  }
  if (defect == LifeDefect::kGapTaken && run != nullptr && report->index > run->reported) {
    report->index = run->reported + 1;
  }
  return defect != LifeDefect::kEndByNumber || run == nullptr || report->index > run->reported;
}

}  // namespace muster::sim
