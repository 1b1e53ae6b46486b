#include "cli/controller/job_watch.h"

#include <sys/epoll.h>

#include <algorithm>
#include <chrono>

#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/program/child_end.h"

namespace muster::cli {
namespace {

// Between two streams; twice as long after each that brought no news, as many may wait for the same
// controller.
constexpr std::chrono::milliseconds kReopenPause{100};
constexpr std::chrono::milliseconds kReopenPauseMax{1'600};

// Watches until `tell` has had terminal news, `stopped` says so, or the controller refuses.
absl::Status FollowUntilEnd(Connection& connection, JobId job,
                            const std::function<void(const JobNews&)>& tell,
                            const std::function<bool()>& stopped) {
  bool ended = false;
  std::chrono::milliseconds pause = kReopenPause;
  while (!ended && !stopped()) {
    bool any = false;
    absl::Status status = connection.WatchJob(job, [&](const JobNews& news) {
      any = true;
      ended = IsTerminal(news.job.state);
      tell(news);
      return !ended && !stopped();
    });
    if (!status.ok() && !absl::IsUnavailable(status)) {
      return status;
    }
    // Whoever stops it waits for this thread.
    pause = any ? kReopenPause : std::min(pause * 2, kReopenPauseMax);
    if (!ended && connection.StopsWatchingWithin(pause)) {
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

JobWatch::JobWatch(Connection& connection, JobId job, EventLoop& loop,
                   std::function<void(const JobNews&)> tell,
                   std::function<void(absl::Status)> failed)
    : connection_(connection),
      job_(job),
      loop_(loop),
      tell_(std::move(tell)),
      failed_(std::move(failed)),
      pause_(kReopenPause) {
  Open();
}

JobWatch::~JobWatch() {
  Close();
  if (again_.has_value()) {
    loop_.Cancel(*again_);
  }
  if (thread_.joinable()) {
    if (!over_) {
      stopped_ = true;
      connection_.StopWatching();
    }
    thread_.join();
  }
}

void JobWatch::Open() {
  again_.reset();
  absl::StatusOr<std::unique_ptr<JobStream>> stream = connection_.StreamJob(job_);
  if (!stream.ok()) {
    OpenAgain();
    return;
  }
  stream_ = *std::move(stream);
  if (stream_ == nullptr ||
      !loop_.Watch(stream_->fd(), EPOLLIN, [this](std::uint32_t) { Read(); }).ok()) {
    StartThread();
  }
}

void JobWatch::Read() {
  const absl::StatusOr<bool> more = stream_->Read([this](const JobNews& news) {
    pause_ = kReopenPause;
    Tell(news);
  });
  if (more.ok() && *more && !over_) {
    return;
  }
  Close();
  if (absl::IsUnimplemented(more.status())) {
    StartThread();
  } else if (more.ok() || absl::IsUnavailable(more.status())) {
    OpenAgain();
  } else {
    Fail(more.status());
  }
}

void JobWatch::Tell(const JobNews& news) {
  if (!over_) {
    over_ = IsTerminal(news.job.state);
    tell_(news);
  }
}

void JobWatch::Fail(const absl::Status& status) {
  if (!std::exchange(over_, true)) {
    failed_(status);
  }
}

void JobWatch::OpenAgain() {
  if (over_) {
    return;
  }
  again_ = loop_.RunAfter(pause_, [this] { Open(); });
  pause_ = std::min(pause_ * 2, kReopenPauseMax);
}

void JobWatch::Close() {
  if (stream_ != nullptr) {
    loop_.Unwatch(stream_->fd());
    stream_.reset();
  }
}

void JobWatch::StartThread() {
  stream_.reset();
  thread_ = std::thread([this] { Follow(); });
}

void JobWatch::Follow() {
  const absl::Status status = FollowUntilEnd(
      connection_, job_, [this](const JobNews& news) { PostIfAlive([this, news] { Tell(news); }); },
      [this] { return stopped_.load(); });
  if (!status.ok()) {
    PostIfAlive([this, status] { Fail(status); });
  }
}

// What is posted may run when this is gone.
void JobWatch::PostIfAlive(EventLoop::Closure closure) {
  loop_.Post([alive = std::weak_ptr<int>(alive_), closure = std::move(closure)] {
    if (!alive.expired()) {
      closure();
    }
  });
}

absl::StatusOr<JobView> WaitForEnd(Connection& connection, JobId job) {
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  absl::StatusOr<JobView> last = JobView();
  const JobWatch watch(
      connection, job, *loop,
      [&](const JobNews& news) {
        last = news.job;
        if (IsTerminal(news.job.state)) {
          loop->Stop();
        }
      },
      [&](const absl::Status& status) {
        last = status;
        loop->Stop();
      });
  RETURN_IF_ERROR(loop->Run());
  return last;
}

int ExitCodeOf(const JobView& job) {
  if (job.exit_signal != 0) {
    return kShellSignalBase + job.exit_signal;
  }
  if (job.exit_code != 0) {
    return std::clamp(job.exit_code, 0, 255);
  }
  return IsSuccess(job.state) ? 0 : 1;
}

}  // namespace muster::cli
