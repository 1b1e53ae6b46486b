#include "daemon/client/views/sight.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/policy/job_access.h"

namespace muster::daemon {

Sight::Sight(const Caller& caller, const core::ClusterState& state)
    : hidden_(IsOperator(caller) ? 0 : caller.powers.hidden), user_(caller.user.name) {
  const std::vector<std::string>& coordinated = caller.powers.coordinates;
  if (hidden_ == 0 || coordinated.empty()) {
    return;
  }
  accounts_.insert(coordinated.begin(), coordinated.end());
  const SitePolicy& site = state.policy().site();
  for (const auto& [name, account] : site.accounts) {
    if (core::IsBelow(site, name, coordinated)) {
      accounts_.insert(name);
    }
  }
}

bool Sight::Hides(Private what) const {
  return (hidden_ & static_cast<std::uint8_t>(what)) != 0;
}

bool Sight::Shows(Private what, const std::string& user, const std::string& account) const {
  return !Hides(what) || user == user_ || accounts_.contains(account);
}

bool Sight::ShowsNode(const core::ClusterState& state, NodeId node) const {
  const auto jobs = state.JobsOn(node);
  return !Hides(Private::kNodes) || std::any_of(jobs.begin(), jobs.end(), [&](JobId id) {
    const JobSpec& spec = *state.FindJob(id)->spec;
    return Shows(Private::kNodes, spec.user.name, spec.account);
  });
}

absl::Status CheckShown(const Caller& caller, std::initializer_list<Private> needed,
                        const std::string& thing) {
  const bool hidden = std::any_of(needed.begin(), needed.end(),
                                  [&caller](Private what) { return Hides(caller, what); });
  return hidden ? absl::PermissionDeniedError(absl::StrCat(
                      thing, " for operators and viewers alone here ([access] private)"))
                : absl::OkStatus();
}

}  // namespace muster::daemon
