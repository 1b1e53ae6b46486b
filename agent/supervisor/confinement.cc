#include "agent/supervisor/confinement.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {

absl::Status Confinement::Make(std::uint32_t node_index) {
  ASSIGN_OR_RETURN(user_, FindJobUser(order_.launch.spec.user));
  if (user_.has_value()) {
    LetPass(directory_.path());
  }
  if (order_.private_tmp) {
    ASSIGN_OR_RETURN(private_, MakePrivateTmp(directory_.Tmp()));
  }
  HoldToLimits(node_index);
  return absl::OkStatus();
}

void Confinement::HoldToLimits(std::uint32_t node_index) {
  cgroup_ = AttemptCgroup::Make(order_.cgroup);
  if (!order_.machine.enforced) {
    limits_ = NoLimits(order_.machine.why_not_enforced);
  } else if (cgroup_.has_value()) {
    limits_ = cgroup_->Hold(order_, order_.launch.allocation.nodes[node_index]);
  } else if (order_.cgroup.empty()) {
    const LimitSet& promised = order_.limits;
    limits_ = promised;
  } else {
    limits_ = NoLimits(absl::StrCat("the control group ", order_.cgroup, " cannot be made"));
  }
}

absl::Status Confinement::OpenSession() {
  const char* const service = getenv(kPamService);  // NOLINT(concurrency-mt-unsafe): one thread
  if (!user_.has_value() || service == nullptr) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(session_, PamSession::Open(service, user_->name));
  user_->session = session_->traits();
  return absl::OkStatus();
}

absl::Status Confinement::WriteScript() const {
  const std::string path = directory_.Script();
  const std::string& text = order_.launch.program.script;
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700));
  if (!fd.valid() ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      (user_.has_value() && fchown(fd.get(), user_->uid, user_->gid) != 0)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
