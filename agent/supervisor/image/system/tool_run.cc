#include "agent/supervisor/image/system/tool_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kToolDirectories[] = {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                            "/usr/bin",        "/sbin",          "/bin"};
constexpr std::size_t kOutputBytesMax = std::size_t{8} << 20;
constexpr std::size_t kWordsBytesMax = std::size_t{16} << 10;  // the last of what it complains
constexpr std::size_t kLineBytesMax = 400;
constexpr std::chrono::milliseconds kTick{1000};

const char* PackageOf(const std::string& name) {
  return name == "unsquashfs" || name == "mksquashfs" ? "squashfs-tools" : name.c_str();
}

// What a line of skopeo's log says: time="…" level=fatal msg="MESSAGE". Any other line is itself.
std::string MessageIn(const std::string& line) {
  const std::string mark = " msg=\"";
  const std::size_t at = line.find(mark);
  if (at == std::string::npos || line.back() != '"') {
    return line;
  }
  const std::size_t begin = at + mark.size();
  return absl::StrReplaceAll(line.substr(begin, line.size() - 1 - begin), {{"\\\"", "\""}});
}

// The program's children, its session and its standard streams.
class Running {
 public:
  static absl::StatusOr<Running> Start(const ToolRun& run) {
    std::array<int, 2> out{-1, -1};
    std::array<int, 2> err{-1, -1};
    const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null.valid() || pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) {
      return absl::ErrnoToStatus(errno, "cannot make a pipe");
    }
    Running running;
    running.output_.reset(out[0]);
    running.error_.reset(err[0]);
    const UniqueFd their_output(out[1]);
    const UniqueFd their_error(err[1]);
    SpawnRequest request;
    ASSIGN_OR_RETURN(request.program, FindTool(run.command.front()));
    request.arguments = run.command;
    request.environment = run.environment;
    request.fds = {{null.get(), STDIN_FILENO},
                   {their_output.get(), STDOUT_FILENO},
                   {their_error.get(), STDERR_FILENO}};
    request.new_session = true;
    ASSIGN_OR_RETURN(running.pid_, Spawn(request));
    return running;
  }
  Running(Running&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        output_(std::move(other.output_)),
        error_(std::move(other.error_)) {}
  Running& operator=(Running&&) = delete;
  ~Running() {
    if (pid_ != 0) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  // Takes what it has said within `wait`; false: it will say no more.
  bool Listen(std::chrono::milliseconds wait) {
    std::array<pollfd, 2> ready{pollfd{output_.get(), POLLIN, 0}, pollfd{error_.get(), POLLIN, 0}};
    if (poll(ready.data(), ready.size(), static_cast<int>(wait.count())) > 0) {
      Take(ready[0].revents, &output_, kOutputBytesMax, &said_);
      Take(ready[1].revents, &error_, kOutputBytesMax, &words_);
      if (words_.size() > kWordsBytesMax) {
        words_.erase(0, words_.size() - kWordsBytesMax);
      }
    }
    return output_.valid() || error_.valid();
  }

  // Its wait status, once it has ended.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    kill(-std::exchange(pid_, 0), SIGKILL);  // what it left behind
    return status;
  }

  [[nodiscard]] const std::string& said() const { return said_; }
  [[nodiscard]] std::string LastWords() const {
    std::string last;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(words_, '\n'))) {
      if (absl::StartsWith(line, "panic: ")) {  // a Go program's stack follows
        return line.substr(0, kLineBytesMax);
      }
      last = line.find_first_not_of(" \t\r") == std::string::npos ? last : line;
    }
    return MessageIn(last).substr(0, kLineBytesMax);
  }

 private:
  Running() = default;

  static void Take(int events, UniqueFd* from, std::size_t most, std::string* text) {
    if (events == 0) {
      return;
    }
    std::array<char, 16384> buffer;
    const ssize_t got = read(from->get(), buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      from->reset();
    } else if (got > 0 && text->size() < most) {
      text->append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  pid_t pid_ = 0;
  UniqueFd output_;
  UniqueFd error_;
  std::string said_;
  std::string words_;
};

}  // namespace

absl::StatusOr<std::string> FindTool(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  for (const char* directory : kToolDirectories) {
    std::string path = absl::StrCat(directory, "/", name);
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("this node has no ", name, ": install ", PackageOf(name)));
}

absl::StatusOr<std::string> RunTool(const ToolRun& run) {
  ASSIGN_OR_RETURN(Running running, Running::Start(run));
  const auto end = SteadyClock::now() + run.limit;
  auto next_look = SteadyClock::now() + kTick;
  while (running.Listen(kTick)) {
    const auto now = SteadyClock::now();
    if (now >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat(run.command.front(), " took longer than ",
                       std::chrono::floor<std::chrono::seconds>(run.limit).count(), " s"));
    }
    if (run.watch != nullptr && now >= next_look) {
      RETURN_IF_ERROR(run.watch());
      // The longer a look takes, the less often there is one.
      next_look = SteadyClock::now() +
                  std::max<SteadyClock::duration>(kTick, 4 * (SteadyClock::now() - now));
    }
  }
  const int status = running.Wait();
  const bool fits = WIFEXITED(status) && std::find(run.codes.begin(), run.codes.end(),
                                                   WEXITSTATUS(status)) != run.codes.end();
  if (fits) {
    return running.said();
  }
  const std::string words = running.LastWords();
  return absl::InternalError(
      absl::StrCat(std::filesystem::path(run.command.front()).filename().string(), ": ",
                   !words.empty()        ? words
                   : WIFSIGNALED(status) ? absl::StrCat("ended by signal ", WTERMSIG(status))
                                         : absl::StrCat("exit code ", WEXITSTATUS(status))));
}

}  // namespace muster::agent
