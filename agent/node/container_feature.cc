#include "agent/node/container_feature.h"

#include <grp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/program/program_search.h"

namespace muster::agent {
namespace {

constexpr uid_t kNobody = 65534;

std::string FindRuntime(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? name : "";
  }
  return FindAlong(name, kSystemPath);
}

// Root always may: so it is tried as nobody.
bool UsersMayMakeNamespaces() {
  const pid_t child = fork();
  if (child == 0) {
    const bool ordinary = geteuid() != 0 || (setgroups(0, nullptr) == 0 &&
                                             setresgid(kNobody, kNobody, kNobody) == 0 &&
                                             setresuid(kNobody, kNobody, kNobody) == 0);
    _exit(ordinary && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

}  // namespace

ContainersFound FindContainers(const std::string& runtime, const std::string& program) {
  ContainersFound found;
  if (runtime.empty()) {
    found.why_not = "containers.runtime is empty";
    return found;
  }
  const std::string path = FindRuntime(runtime);
  if (path.empty()) {
    found.why_not = absl::StrCat("there is no ", runtime, ": install it");
  } else if (program.empty()) {
    found.why_not = "muster-container is not installed";
  } else if (!UsersMayMakeNamespaces()) {
    found.why_not =
        "users may make no namespaces: see user.max_user_namespaces and "
        "kernel.unprivileged_userns_clone";
  } else {
    found.runtime = path;
  }
  return found;
}

}  // namespace muster::agent
