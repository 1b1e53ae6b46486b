#include "agent/node/container_feature.h"

#include <grp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::agent {
namespace {

constexpr const char* kProgramPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr uid_t kNobody = 65534;

std::string FindRuntime(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? name : "";
  }
  for (const std::string& directory : std::vector<std::string>(absl::StrSplit(kProgramPath, ':'))) {
    std::string path = absl::StrCat(directory, "/", name);
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
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
