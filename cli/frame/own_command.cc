#include "cli/frame/own_command.h"

#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {

absl::StatusOr<std::string> OwnProgram() {
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  if (unknown) {
    return absl::InternalError("/proc/self/exe: cannot be read");
  }
  return self;
}

absl::StatusOr<std::vector<std::string>> OwnCommand(const Invocation& invocation,
                                                    const std::string& verb) {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  std::vector<std::string> command = {self, verb};
  if (invocation.Has("controller")) {
    command.push_back(absl::StrCat("--controller=", invocation.Value("controller")));
  }
  if (invocation.Has("state")) {
    std::error_code unknown;
    const std::string state =
        std::filesystem::absolute(invocation.Value("state"), unknown).string();
    command.push_back(absl::StrCat("--state=", state));
  }
  return command;
}

}  // namespace muster::cli
