#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/frame/verbs.h"
#include "cli/up/up_service.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Down(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::string state,
                   StateDirectory(invocation.Value("state"), invocation.environment));
  absl::Status stopped = absl::NotFoundError("");
  if (const absl::StatusOr<UserManager> manager = UserManager::Find(invocation.environment);
      manager.ok()) {
    stopped = StopUnit(*manager, UnitName(state, invocation.environment));
  }
  if (absl::IsNotFound(stopped)) {
    stopped = StopHolder(state);
  }
  RETURN_IF_ERROR(stopped);
  std::cout << "stopped; jobs that run go on, and the next \"muster up\" adopts them" << std::endl;
  return 0;
}

}  // namespace

Verb DownVerb() {
  Verb verb;
  verb.name = "down";
  verb.purpose = "Stop the personal cluster of muster up";
  verb.examples = {"muster down", "muster down --state ~/other-cluster"};
  verb.remarks =
      "Also one that another terminal runs. Jobs go on under their supervisors, as when Ctrl-C\n"
      "stops muster up: cancel them before, or have the next muster up adopt them.";
  verb.run = Down;
  return verb;
}

}  // namespace muster::cli
