#include "agent/user_groups.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/limits/group_limits.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"

namespace muster::agent {
namespace {

// Processes live in it, because the group above passes controllers on.
constexpr const char* kWork = "work";
constexpr std::uint64_t kPartOfMemory = 8;

}  // namespace

std::string UserGroups::For(std::uint32_t uid) {
  std::erase_if(made_, [uid](const auto& made) {
    if (made.first == uid || CgroupPopulated(made.second)) {
      return false;
    }
    RemoveCgroup(made.second);
    return true;
  });
  const std::string directory = groups_.PathFor(absl::StrCat("ahead.", uid));
  const std::optional<AttemptCgroup> group = AttemptCgroup::Make(directory);
  if (!group.has_value()) {
    return "";
  }
  if (made_.emplace(uid, directory).second) {
    SupervisorOrder order;
    order.limits = limits_;
    order.limits.pids = limits_.pids == 0 ? kProcessesMost : std::min(limits_.pids, kProcessesMost);
    NodeAllocation part;
    part.memory = std::max(kLeast, Bytes(memory_.value() / kPartOfMemory));
    group->Hold(order, part);
  }
  return group->MakeStep(kWork, {}, limits_).has_value() ? absl::StrCat(directory, "/", kWork) : "";
}

}  // namespace muster::agent
