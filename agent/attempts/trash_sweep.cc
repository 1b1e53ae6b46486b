#include "agent/attempts/trash_sweep.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr const char* kSweepComponent = "trash";
constexpr std::size_t kSaidMax = 1000;

bool IsEmpty(const std::string& directory) {
  std::error_code error;
  return std::filesystem::is_empty(directory, error) || error;
}

}  // namespace

TrashSweep::TrashSweep(EventLoop& loop, const Logger& log, Children& children, Config config)
    : loop_(loop),
      log_(log),
      children_(children),
      config_(std::move(config)),
      wait_(config_.retry) {}

TrashSweep::~TrashSweep() {
  Close();
  if (retry_timer_.has_value()) {
    loop_.Cancel(*retry_timer_);
  }
}

void TrashSweep::Begin() {
  if (pidfd_.valid()) {
    again_ = true;
    return;
  }
  if (retry_timer_.has_value()) {
    loop_.Cancel(*std::exchange(retry_timer_, std::nullopt));
  }
  again_ = false;
  if (const absl::Status started = Start(); !started.ok()) {
    Close();
    TryAgain(std::string(started.message()));
  }
}

absl::Status TrashSweep::Start() {
  std::array<int, 2> pipe = {-1, -1};
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.valid() || pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  output_.reset(pipe[0]);
  const UniqueFd into(pipe[1]);
  SpawnRequest request;
  request.program = config_.program;
  request.arguments = {config_.program, "--sweep", config_.trash};
  request.environment = config_.environment;
  request.fds = {
      {nothing.get(), STDIN_FILENO}, {nothing.get(), STDOUT_FILENO}, {into.get(), STDERR_FILENO}};
  request.new_session = true;
  ASSIGN_OR_RETURN(pid_, children_.SpawnOwn(request));
  ASSIGN_OR_RETURN(const ProcessIdentity identity, ReadIdentity(pid_));
  ASSIGN_OR_RETURN(pidfd_, OpenPidfd(identity));
  said_.clear();
  RETURN_IF_ERROR(loop_.Watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { Ended(); }));
  // Its children die with it.
  limit_timer_ = loop_.RunAfter(config_.limit, [this] {
    limit_timer_.reset();
    SendSignal(pidfd_, SIGKILL).IgnoreError();  // it has ended just now
  });
  return absl::OkStatus();
}

void TrashSweep::Read() {
  std::array<char, kSaidMax> part{};
  ssize_t got = 0;
  while ((got = read(output_.get(), part.data(), part.size())) > 0) {
    said_.append(part.data(), std::min(static_cast<std::size_t>(got), kSaidMax - said_.size()));
  }
}

void TrashSweep::Ended() {
  Read();
  absl::StripAsciiWhitespace(&said_);
  Close();
  children_.Reap();
  children_.Forget(pid_);
  const bool stays = !IsEmpty(config_.trash);
  if (!said_.empty() && (again_ || !stays)) {
    log_.Warning(kSweepComponent, EscapeControl(said_));
  }
  if (again_) {
    Begin();
  } else if (stays) {
    TryAgain(said_.empty() ? "it was not done in time" : said_);
  } else {
    wait_ = config_.retry;
  }
}

void TrashSweep::Close() {
  if (limit_timer_.has_value()) {
    loop_.Cancel(*std::exchange(limit_timer_, std::nullopt));
  }
  if (pidfd_.valid()) {
    loop_.Unwatch(pidfd_.get());
    pidfd_.reset();
  }
  output_.reset();
}

void TrashSweep::TryAgain(const std::string& why) {
  log_.Warning(kSweepComponent, absl::StrCat("what ended jobs left in ", config_.trash,
                                             " could not all be removed: ", EscapeControl(why),
                                             "; trying again in ", wait_.count() / 1000, " s"));
  retry_timer_ = loop_.RunAfter(wait_, [this] {
    retry_timer_.reset();
    Begin();
  });
  wait_ = std::min(wait_ * 2, config_.retry_max);
}

}  // namespace muster::agent
