#include "scheduler/runtime/program/script_in_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr int kScriptFd = 3;

}  // namespace

absl::StatusOr<UniqueFd> FileInMemory(const std::string& name, const std::string& text) {
  UniqueFd file(memfd_create(name.c_str(), MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(text.size());
  if (!file.valid() || write(file.get(), text.data(), text.size()) != size ||
      lseek(file.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("a file in memory for the ", name));
  }
  return file;
}

absl::StatusOr<pid_t> SpawnScript(const std::string& script, SpawnRequest request) {
  ASSIGN_OR_RETURN(const UniqueFd file, FileInMemory(request.arguments.front(), script));
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  request.fds.push_back({nothing.get(), STDIN_FILENO});
  request.fds.push_back({file.get(), kScriptFd});
  request.program = absl::StrCat("/proc/self/fd/", kScriptFd);
  return Spawn(request);
}

}  // namespace muster
