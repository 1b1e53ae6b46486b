#include "scheduler/core/handle/nodes/link_handlers.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/machine/network.h"

namespace muster::core {
namespace {

absl::StatusOr<std::uint32_t> FindSwitch(const Network& network, const std::string& name) {
  const std::uint32_t at = PositionOfSwitch(network, name);
  if (at == kNowhere) {
    return absl::NotFoundError(absl::StrCat("--link: there is no switch ", Quote(name), " in ",
                                            network.source,
                                            "; muster nodes --json names those above each node"));
  }
  return at;
}

absl::Status CheckEnds(const Network* network, const std::string& a, const std::string& b) {
  if (network == nullptr || network->switches.empty()) {
    return absl::FailedPreconditionError(
        "--link: the controller knows no switches; give it their file, as network in "
        "musterd.toml or --network");
  }
  ASSIGN_OR_RETURN(const std::uint32_t one, FindSwitch(*network, a));
  ASSIGN_OR_RETURN(const std::uint32_t other, FindSwitch(*network, b));
  if (IsAtOrAbove(*network, one, other) || IsAtOrAbove(*network, other, one)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--link: ", Quote(a), one == other ? " is both ends" : " and ",
                     one == other ? "" : Quote(b), one == other ? "" : ": one is above the other",
                     "; name two switches side by side"));
  }
  return absl::OkStatus();
}

}  // namespace

Transition NarrowOrResume(const ClusterState& state, const DrainNode& command, Time now,
                          const SchedulerConfig& config) {
  if (command.until != kNoTime || command.deadline != kNoTime) {
    return Refused(
        absl::InvalidArgumentError("--until and --deadline are of nodes: leave them out"));
  }
  const NarrowLink* known = state.narrow_links().Find(command.name, command.link_to);
  if (known == nullptr || command.drained) {
    if (absl::Status ends = CheckEnds(config.network.get(), command.name, command.link_to);
        !ends.ok()) {
      return Refused(std::move(ends));
    }
  }
  if (command.drained && command.reason.empty()) {
    return Refused(absl::InvalidArgumentError("--reason: say why the link is narrow"));
  }
  const bool as_asked =
      command.drained ? known != nullptr && known->reason == command.reason : known == nullptr;
  Transition transition;
  if (as_asked) {
    return transition;
  }
  const auto& [first, second] = std::minmax(command.name, command.link_to);
  const NarrowLink link =
      command.drained ? NarrowLink{first, second, command.reason, command.by.name, now} : *known;
  transition.events.emplace_back(LinkNarrowed{link, command.drained, now});
  transition.effects.emplace_back(Replan{});
  return transition;
}

}  // namespace muster::core
