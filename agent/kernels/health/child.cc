#include "agent/kernels/health/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace muster::kernels {
namespace {

constexpr size_t kOutputMost = size_t{16} << 20;
constexpr int kNotRun = 127;

// REQUIRES: only what is safe between fork and exec in a process with threads.
[[noreturn]] void Become(char* const* arguments, int output, pid_t parent) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (nothing < 0 || getppid() != parent || dup2(nothing, STDIN_FILENO) < 0 ||
      dup2(output, STDOUT_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0) {
    _exit(kNotRun);
  }
  execvp(arguments[0], arguments);
  _exit(kNotRun);
}

std::string ReadAll(int fd) {
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

}  // namespace

bool DieWithParent() {
  const pid_t parent = getppid();
  return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

std::optional<std::string> RunChild(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    Become(arguments.data(), pipe[1], parent);
  }
  close(pipe[1]);
  std::string text = child > 0 ? ReadAll(pipe[0]) : "";
  close(pipe[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool ended = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
  return ended ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace muster::kernels
