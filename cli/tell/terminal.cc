#include "cli/tell/terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kPathMax = 256;

}  // namespace

absl::StatusOr<UniqueFd> FindTerminal() {
  for (const int stream : {STDERR_FILENO, STDOUT_FILENO, STDIN_FILENO}) {
    std::array<char, kPathMax> path = {};
    if (ttyname_r(stream, path.data(), path.size()) != 0) {
      continue;
    }
    UniqueFd terminal(open(path.data(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (!terminal.valid()) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path.data()));
    }
    RETURN_IF_ERROR(CheckTerminal(terminal.get()));
    return terminal;
  }
  return absl::FailedPreconditionError(
      "there is no terminal here to tell: ask in one, or submit with --notify");
}

absl::Status CheckTerminal(int fd) {
  struct stat found = {};
  if (isatty(fd) == 0 || fstat(fd, &found) != 0) {
    return absl::FailedPreconditionError("it is no terminal");
  }
  if (found.st_uid != geteuid()) {
    return absl::FailedPreconditionError(
        "the terminal is another user's: ask as the user who logged in there");
  }
  return (found.st_mode & S_IWGRP) != 0
             ? absl::OkStatus()
             : absl::FailedPreconditionError(
                   "the terminal lets no messages in (mesg n): `mesg y` lets them in");
}

absl::Status WriteNotice(int fd, const std::string& line) {
  RETURN_IF_ERROR(CheckTerminal(fd));
  const std::string text = absl::StrCat("\r\n\a", line, "\r\n");
  return write(fd, text.data(), text.size()) >= 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, "cannot write to the terminal");
}

}  // namespace muster::cli
