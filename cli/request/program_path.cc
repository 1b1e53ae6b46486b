#include "cli/request/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

bool IsProgram(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& command, const std::string& work_dir,
                                        const Environment& environment) {
  const auto missing = [&command](const char* problem) {
    return absl::NotFoundError(absl::StrCat(Quote(command), ": ", problem));
  };
  if (command.empty()) {
    return absl::InvalidArgumentError("the command is empty: name a program");
  }
  if (command.find('/') != std::string::npos) {
    return IsProgram((std::filesystem::path(work_dir) / command).string())
               ? absl::StatusOr<std::string>(command)
               : missing("no such program: name an executable file");
  }
  std::string rest = environment.Get("PATH");
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    std::string path = absl::StrCat(directory, "/", command);
    if (!directory.empty() && IsProgram(path)) {
      return path;
    }
  }
  return missing("not found in PATH: name its path");
}

}  // namespace muster::cli
