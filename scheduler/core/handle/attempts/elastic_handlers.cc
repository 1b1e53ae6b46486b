#include "scheduler/core/handle/attempts/elastic_handlers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/handle/attempts/attempt_end.h"
#include "scheduler/core/handle/attempts/group_end.h"
#include "scheduler/core/place/placement.h"
#include "scheduler/core/state/tables/alternatives.h"
#include "scheduler/core/state/tables/attempt.h"

namespace muster::core {
namespace {

struct Membership {
  std::vector<const Node*> lost;  // on which the attempt's part has not ended
  std::size_t running = 0;        // parts on other nodes that have not ended
  std::size_t there = 0;          // nodes of the attempt that answer
};

Membership MembersOf(const ClusterState& state, const Attempt& attempt) {
  Membership members;
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const Node& node = *state.FindNode(attempt.allocation.nodes[i].node);
    const bool ended = attempt.runs[i].phase == RunPhase::kEnded;
    if (node.connected) {
      members.there += node.drained ? 0 : 1;
      members.running += ended ? 0 : 1;
    } else if (!ended) {
      members.lost.push_back(&node);
    }
  }
  return members;
}

// How many nodes that are not the attempt's could take a share of the job, as far as the next
// attempt needs them.
std::size_t CountFree(const ClusterState& state, const JobSpec& spec, const Attempt& attempt,
                      std::size_t most) {
  std::size_t count = 0;
  const std::uint32_t share = TasksOnEach(spec.request);
  for (const auto& [id, node] : state.nodes()) {
    if (count == most) {
      break;
    }
    if (node.connected && !node.drained && !RunOn(attempt, id).has_value()) {
      NodeSnapshot snapshot;
      snapshot.id = id;
      snapshot.name = node.name;
      snapshot.machine = node.machine;
      snapshot.taken = node.taken;
      snapshot.gpu_occupants = node.gpu_occupants;
      count += PlaceOnNode(snapshot, spec.request, share).tasks == share ? 1 : 0;
    }
  }
  return count;
}

// The last sign of life that is known of a node that is away: a new epoch knows of none.
Time HeardFrom(const Node& node) {
  return node.heard == kNoTime ? node.changed : node.heard;
}

// A node that was silent before it was noticed has had that time already.
Time LostFrom(const Node& node) {
  return std::min(node.changed + kElasticSilence, HeardFrom(node) + kElasticFence);
}

std::string Silence(const Node& node, Time now) {
  return absl::StrCat(
      "node ", node.name, " has not answered for ",
      std::chrono::duration_cast<std::chrono::seconds>(now - HeardFrom(node)).count(), " s");
}

// True when the job could start again, or has waited for that as long as it may.
bool MayGiveUp(const ClusterState& state, const Job& job, const Membership& members, Time lost,
               Time now) {
  const std::uint32_t least = job.spec->request.min_nodes;
  return members.there >= least || now >= lost + job.spec->replace_wait ||
         members.there + CountFree(state, *job.spec, *job.attempt, least - members.there) >= least;
}

void LookAt(const ClusterState& state, const Job& job, TransitionJobs& jobs, Time now,
            Transition& transition) {
  const Membership members = MembersOf(state, *job.attempt);
  if (members.lost.empty()) {
    return;
  }
  const auto later = [](const Node* a, const Node* b) { return HeardFrom(*a) < HeardFrom(*b); };
  const auto [first, last] = std::minmax_element(members.lost.begin(), members.lost.end(), later);
  if (job.attempt->ending == EndCause::kNone && now >= LostFrom(**first)) {
    EndAttempt(job, {EndCause::kJobEnding, Silence(**first, now)}, now, transition);
    return;
  }
  if (job.attempt->ending == EndCause::kNone || members.running > 0 ||
      now < HeardFrom(**last) + kElasticFence ||
      !MayGiveUp(state, job, members, HeardFrom(**first), now)) {
    return;
  }
  for (const Node* node : members.lost) {
    RunEnded ended;
    ended.time = now;
    ended.cause = EndCause::kNodeLostRecord;
    ended.text = absl::StrCat(Silence(*node, now), " and counts as lost");
    const NodeRun& run = job.attempt->runs[*RunOn(*job.attempt, node->id)];
    jobs.TakeFact(job.id, node->id, Report{job.id, job.attempt->number, run.reported + 1, ended},
                  now, transition);
  }
}

}  // namespace

Transition On(const ClusterState& state, const TickElastic&, Time now, const SchedulerConfig&) {
  Transition transition;
  TransitionJobs jobs(state);
  for (const JobId id : state.index().elastic()) {
    LookAt(state, *state.FindJob(id), jobs, now, transition);
  }
  return transition;
}

bool Resize(const ClusterState& state, const PlannedResize& resize, Time now,
            Transition& transition) {
  const Job* job = state.FindJob(resize.job);
  if (job == nullptr || !IsRunning(job->state) || !job->spec->elastic ||
      job->attempt->number != resize.attempt || job->attempt->ending != EndCause::kNone) {
    return false;
  }
  const bool shrinks = resize.verdict == ResizeVerdict::kShrink;
  EndAttempt(*job,
             {EndCause::kResized,
              absl::StrCat(shrinks ? "shrinks" : "grows", " from ", job->attempt->runs.size(),
                           " to ", resize.nodes, " nodes",
                           shrinks ? absl::StrCat(" for job ", resize.for_job.value()) : ""),
              shrinks ? resize.nodes : 0},
             now, transition);
  return true;
}

}  // namespace muster::core
