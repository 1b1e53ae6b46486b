#include "agent/supervisor/attempt/site_script.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/identity/trusted_path.h"

namespace muster::agent {

absl::Status CheckSiteScript(const std::string& program) {
  struct stat file {};
  if (program.empty() || program.front() != '/') {
    return absl::InvalidArgumentError(absl::StrCat(program, ": not an absolute path"));
  }
  if (stat(program.c_str(), &file) != 0) {
    return absl::ErrnoToStatus(errno, program);
  }
  if (!S_ISREG(file.st_mode) || access(program.c_str(), X_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(program, ": not a program; chmod +x it"));
  }
  return CheckTrustedPath(program);
}

}  // namespace muster::agent
