#include "scheduler/core/handle/nodes/forget_handlers.h"

#include "absl/strings/str_cat.h"

namespace muster::core {

Transition On(const ClusterState& state, const ForgetNode& command, Time now,
              const SchedulerConfig&) {
  const Node* const node = state.FindNode(command.name);
  if (node == nullptr) {
    return Refused(absl::NotFoundError(
        absl::StrCat("node ", command.name, ": no such node; see muster nodes")));
  }
  const std::string where = absl::StrCat("node ", node->name, ": ");
  if (node->connected) {
    return Refused(absl::FailedPreconditionError(
        absl::StrCat(where, "its agent is connected: stop it, or it registers again")));
  }
  const std::size_t jobs = state.JobsOn(node->id).size();
  if (jobs > 0) {
    return Refused(absl::FailedPreconditionError(absl::StrCat(
        where, jobs, jobs == 1 ? " job holds" : " jobs hold",
        " resources there: cancel or requeue them first (muster queue --node ", node->name, ")")));
  }
  if (!node->quarantined.empty()) {
    return Refused(absl::FailedPreconditionError(absl::StrCat(
        where,
        "processes of ended jobs may still run there, until its agent says that they do not")));
  }
  Transition transition;
  transition.node = node->id;
  transition.events.emplace_back(NodeForgotten{node->id, node->name, now});
  transition.effects.emplace_back(Replan{});
  return transition;
}

}  // namespace muster::core
