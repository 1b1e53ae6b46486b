#include "agent/node/health_check.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/node/health_document.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "health";
constexpr std::size_t kOutputMost = std::size_t{1} << 20;
constexpr std::size_t kLineMost = 200;
constexpr int kGoneWithinMs = 5000;  // after SIGKILL: the time to give much memory back

// Binds the calling thread, and so its children, while it lives.
class BoundThread {
 public:
  explicit BoundThread(const CpuSet& cpus) {
    if (cpus.Empty() || sched_getaffinity(0, sizeof(before_), &before_) != 0) {
      return;
    }
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const std::uint32_t cpu : cpus.Members()) {
      if (cpu < CPU_SETSIZE) {
        CPU_SET(cpu, &wanted);
      }
    }
    bound_ = sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
  }
  ~BoundThread() {
    if (bound_) {
      sched_setaffinity(0, sizeof(before_), &before_);
    }
  }
  BoundThread(const BoundThread&) = delete;
  BoundThread& operator=(const BoundThread&) = delete;

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

bool IsReadable(const UniqueFd& fd, int within_ms) {
  pollfd waiting{fd.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, within_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

HealthCheck::HealthCheck(EventLoop& loop, const Clock& clock, const Logger& log, Config config,
                         Done done)
    : loop_(loop), clock_(clock), log_(log), config_(std::move(config)), done_(std::move(done)) {}

HealthCheck::~HealthCheck() {
  Kill();
}

void HealthCheck::Begin(std::uint64_t number, HealthKind kind) {
  if (running() && number == number_) {
    return;
  }
  if (last_.has_value() && last_->number == number) {
    done_(*last_);
    return;
  }
  Kill();
  number_ = number;
  kind_ = kind;
  began_ = clock_.SteadyNow();
  const absl::Status started = Start(kind);
  if (!started.ok()) {
    Close();
    Tell(HealthOutcome::kBroken, std::string(started.message()));
    return;
  }
  log_.Info(kComponent, absl::StrCat("check ", number, " begins"));
}

absl::Status HealthCheck::Start(HealthKind kind) {
  std::array<int, 2> pipe = {};
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.valid() || pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "health check");
  }
  output_ = UniqueFd(pipe[0]);
  const UniqueFd into(pipe[1]);
  const bool quick = kind != HealthKind::kBurnIn;
  SpawnRequest request;
  if (kind == HealthKind::kReboot) {
    if (config_.reboot.empty()) {
      return absl::FailedPreconditionError("no program reboots this node: set reboot in agent.toml");
    }
    request.program = config_.reboot;
    request.arguments = {config_.reboot};
  } else {
    request.program = config_.program;
    request.arguments = {config_.program, quick ? "--quick" : "--burn-in", "--with-parent",
                         "--json"};
  }
  request.environment = config_.environment;
  request.fds = {
      {nothing.get(), STDIN_FILENO}, {into.get(), STDOUT_FILENO}, {into.get(), STDERR_FILENO}};
  request.new_session = true;
  {
    const BoundThread bound(config_.cpus);
    ASSIGN_OR_RETURN(pid_, Spawn(request));
  }
  absl::StatusOr<ProcessIdentity> identity = ReadIdentity(pid_);
  absl::StatusOr<UniqueFd> pidfd =
      identity.ok() ? OpenPidfd(*identity) : absl::StatusOr<UniqueFd>(identity.status());
  if (!pidfd.ok()) {
    kill(-pid_, SIGKILL);
    return pidfd.status();
  }
  pidfd_ = *std::move(pidfd);
  text_.clear();
  RETURN_IF_ERROR(loop_.Watch(output_.get(), EPOLLIN, [this](std::uint32_t) { Read(); }));
  RETURN_IF_ERROR(loop_.Watch(pidfd_.get(), EPOLLIN, [this](std::uint32_t) { Ended(); }));
  timer_ = loop_.RunAfter(quick ? config_.quick_within : config_.burn_in_within, [this] {
    timer_.reset();
    Kill();
    Tell(HealthOutcome::kBroken, "the check took too long");
  });
  return absl::OkStatus();
}

void HealthCheck::Read() {
  std::array<char, 16384> part{};
  while (true) {
    const ssize_t count = read(output_.get(), part.data(), part.size());
    if (count > 0) {
      const std::size_t room = kOutputMost - std::min(kOutputMost, text_.size());
      text_.append(part.data(), std::min(room, static_cast<std::size_t>(count)));
      continue;
    }
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count == 0) {
      loop_.Unwatch(output_.get());  // its end follows
    }
    return;
  }
}

void HealthCheck::Ended() {
  Read();
  const std::string text = std::move(text_);
  if (kind_ == HealthKind::kReboot) {
    RebootEnded(text);
    return;
  }
  Kill();  // what it may have left behind
  absl::StatusOr<std::vector<HealthFigure>> figures = ReadHealthDocument(text);
  if (figures.ok()) {
    Tell(HealthOutcome::kMeasured, "", *std::move(figures));
  } else {
    Tell(HealthOutcome::kBroken, std::string(figures.status().message()));
  }
}

// Until the machine goes down nobody waits for anything here; the controller gives it up in the end.
void HealthCheck::RebootEnded(const std::string& text) {
  int status = 0;
  const bool known = waitpid(pid_, &status, WNOHANG) == pid_;
  Close();
  if (known && status != 0) {
    const std::string line = text.substr(0, std::min(text.find('\n'), kLineMost));
    Tell(HealthOutcome::kBroken,
         absl::StrCat(config_.reboot, " failed", line.empty() ? "" : ": ", line));
  }
}

void HealthCheck::Refuse(std::uint64_t number) {
  if (running() || (last_.has_value() && last_->number == number)) {
    return;
  }
  number_ = number;
  began_ = clock_.SteadyNow();
  Tell(HealthOutcome::kYielded, "a job is here");
}

void HealthCheck::Yield() {
  if (!running() || kind_ == HealthKind::kReboot) {
    return;
  }
  Kill();
  Tell(HealthOutcome::kYielded, "a job came");
}

// Its pid is its own until it is reaped, here or by whoever reaps the agent's children on this very
// thread; what it starts dies with it.
void HealthCheck::Kill() {
  if (!running()) {
    return;
  }
  if (!IsReadable(pidfd_, 0)) {
    kill(-pid_, SIGKILL);
    static_cast<void>(SendSignal(pidfd_, SIGKILL));
    if (!IsReadable(pidfd_, kGoneWithinMs)) {
      log_.Error(kComponent, absl::StrCat("check ", number_, " does not die"));
    }
  }
  Close();
}

void HealthCheck::Close() {
  if (timer_.has_value()) {
    loop_.Cancel(*timer_);
    timer_.reset();
  }
  if (output_.valid()) {
    loop_.Unwatch(output_.get());
    output_.reset();
  }
  if (pidfd_.valid()) {
    loop_.Unwatch(pidfd_.get());
    pidfd_.reset();
    waitpid(pid_, nullptr, WNOHANG);
  }
}

void HealthCheck::Tell(HealthOutcome outcome, std::string text, std::vector<HealthFigure> figures) {
  HealthReport report;
  report.number = number_;
  report.outcome = outcome;
  report.text = std::move(text);
  report.took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - began_);
  report.figures = std::move(figures);
  log_.Info(kComponent, absl::StrCat("check ", number_,
                                     outcome == HealthOutcome::kMeasured  ? " measured"
                                     : outcome == HealthOutcome::kYielded ? " yielded: "
                                                                          : " failed: ",
                                     report.text));
  last_ = std::move(report);
  done_(*last_);
}

}  // namespace muster::agent
