#include "scheduler/runtime/program/program_answer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "scheduler/base/status.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;

bool IsReadable(int fd, std::chrono::steady_clock::time_point end) {
  pollfd watched = {fd, POLLIN, 0};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return false;
    }
    const int ready = poll(&watched, 1, static_cast<int>(left.count()));
    if (ready != 0 && (ready > 0 || errno != EINTR)) {
      return true;
    }
  }
}

// All that comes; nothing: it was not at its end in time.
std::optional<std::string> Listen(int fd, std::chrono::steady_clock::time_point end) {
  std::string text;
  while (text.size() < kBytesMax) {
    if (!IsReadable(fd, end)) {
      return std::nullopt;
    }
    std::array<char, 4096> buffer = {};
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

absl::StatusOr<ProgramAnswer> AnswerOf(SpawnRequest request, AnswerStreams streams,
                                       std::chrono::milliseconds patience) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  request.fds = {{nothing.get(), 0},
                 {theirs.get(), 1},
                 {streams == AnswerStreams::kBoth ? theirs.get() : nothing.get(), 2}};
  request.new_session = true;
  ASSIGN_OR_RETURN(const pid_t child, Spawn(request));
  theirs.reset();
  const auto end = std::chrono::steady_clock::now() + patience;
  const std::optional<std::string> said = Listen(ours.get(), end);
  const bool whole = said.has_value() && said->size() < kBytesMax;
  // It may close its output and go on.
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  const bool late = !said.has_value() || (whole && !EndsWithin(child, left));
  if (late || !whole) {
    kill(-child, SIGKILL);
  }
  const int status = AwaitEnd(child);
  return ProgramAnswer{said.value_or(""), WIFEXITED(status) && WEXITSTATUS(status) == 0, late};
}

}  // namespace muster
