#include "cli/kernel/kernel_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr size_t kOutputMost = size_t{64} << 20;

struct Output {
  std::string text;
  int status = 0;
};

std::string ReadToEnd(int fd) {
  std::string text;
  std::array<char, 65536> part{};
  while (text.size() < kOutputMost) {
    const ssize_t count = read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    text.append(part.data(), static_cast<size_t>(count));
  }
  return text;
}

absl::StatusOr<Output> RunToEnd(const std::vector<std::string>& words,
                                const std::vector<std::string>& environment) {
  std::array<int, 2> pipe = {};
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.valid() || pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(words.front(), ": cannot be run"));
  }
  const UniqueFd from(pipe[0]);
  UniqueFd into(pipe[1]);
  SpawnRequest request;
  request.program = words.front();
  request.arguments = words;
  request.environment = environment;
  request.fds = {{.from = nothing.get(), .to = STDIN_FILENO},
                 {.from = into.get(), .to = STDOUT_FILENO},
                 {.from = STDERR_FILENO, .to = STDERR_FILENO}};
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(request));
  into.reset();
  Output output;
  output.text = ReadToEnd(from.get());
  output.status = AwaitEnd(pid);
  return output;
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) {
    return "";
  }
  const size_t begin = text.rfind('\n', end);
  const size_t first = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(first, end + 1 - first);
}

}  // namespace

std::vector<std::string> Replaced(const Environment& environment, const Variables& variables) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> entries;
  for (const std::string& entry : environment.entries()) {
    bool replaced = false;
    for (const std::string& variable : variables) {
      replaced = replaced || name_of(variable) == name_of(entry);
    }
    if (!replaced) {
      entries.push_back(entry);
    }
  }
  for (const std::string& variable : variables) {
    if (variable.find('=') != std::string::npos) {
      entries.push_back(variable);
    }
  }
  return entries;
}

absl::StatusOr<Json> MeasureKernel(const std::vector<std::string>& words,
                                   const Environment& environment, const Variables& variables) {
  ASSIGN_OR_RETURN(const Output output, RunToEnd(words, Replaced(environment, variables)));
  const std::string last = LastLine(output.text);
  const Json document = Json::parse(last, nullptr, /*allow_exceptions=*/false);
  const bool failed = !WIFEXITED(output.status) || WEXITSTATUS(output.status) != 0;
  if (failed && document.is_object() && document.contains("unavailable")) {
    return absl::UnavailableError(document.value("unavailable", ""));
  }
  if (failed && document.is_object() && document.contains("failure") &&
      document["failure"].is_string()) {
    return absl::InternalError(absl::StrCat(
        words.front(), ": its result is wrong: ", document["failure"].get<std::string>()));
  }
  if (failed) {
    const std::string how = WIFEXITED(output.status)
                                ? absl::StrCat("exit code ", WEXITSTATUS(output.status))
                                : absl::StrCat("signal ", WTERMSIG(output.status));
    return absl::InternalError(
        absl::StrCat(words.front(), ": failed with ", how, ": run it by itself to see why"));
  }
  if (!document.is_object()) {
    return absl::InternalError(
        absl::StrCat(words.front(), ": printed no document: is it a kernel of this version?"));
  }
  return document;
}

}  // namespace muster::cli
