#include "agent/node/criu_feature.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr const char* kSystemPath = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t kWordsMost = 512;

std::string FindAlong(const std::string& path) {
  for (const std::string& directory :
       std::vector<std::string>(absl::StrSplit(absl::StrCat(path, ":", kSystemPath), ':'))) {
    std::string program = absl::StrCat(directory, "/criu");
    if (!directory.empty() && directory[0] == '/' && access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return "";
}

void EndSession(pid_t pid) {
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// Its last words, unless it exits with 0 within the limit.
absl::Status Run(const std::vector<std::string>& command, Duration limit) {
  std::array<int, 2> ends{-1, -1};
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid() || pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  const UniqueFd output(ends[0]);
  UniqueFd theirs(ends[1]);
  SpawnRequest request;
  request.program = command.front();
  request.arguments = command;
  request.environment = {absl::StrCat("PATH=", kSystemPath)};
  request.fds = {
      {null.get(), STDIN_FILENO}, {theirs.get(), STDOUT_FILENO}, {null.get(), STDERR_FILENO}};
  request.new_session = true;
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  theirs.reset();
  const absl::StatusOr<ProcessIdentity> identity = ReadIdentity(pid);
  const absl::StatusOr<UniqueFd> pidfd =
      identity.ok() ? OpenPidfd(*identity) : absl::StatusOr<UniqueFd>(identity.status());
  pollfd waiting{pidfd.ok() ? pidfd->get() : -1, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, static_cast<int>(limit.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) {
    EndSession(pid);
    return absl::DeadlineExceededError(
        absl::StrCat("it took longer than ", limit.count() / 1000, " s"));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return absl::OkStatus();
  }
  std::string words(kWordsMost, '\0');
  const ssize_t got = read(output.get(), words.data(), words.size());
  words.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  words = words.substr(0, words.find('\n'));
  return absl::InternalError(words.empty() ? "it failed" : EscapeControl(words));
}

}  // namespace

CriuFound FindCriu(const std::string& path, const std::string& program, bool as_user,
                   Duration limit) {
  CriuFound found;
  const std::string criu = FindAlong(path);
  if (criu.empty()) {
    return found;
  }
  if (program.empty()) {
    found.why_not = "muster-criu is not installed";
    return found;
  }
  std::vector<std::string> command = {program, "try", criu};
  if (as_user) {
    command.emplace_back("as-user");
  }
  const absl::Status works = Run(command, limit);
  if (works.ok()) {
    found.path = criu;
  } else {
    found.why_not = absl::StrCat(criu, ": ", as_user ? "as an ordinary user: " : "",
                                 std::string(works.message()));
  }
  return found;
}

}  // namespace muster::agent
