#include "cli/controller/job_watch.h"

#include <algorithm>
#include <chrono>

#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"

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
      thread_([this] { Follow(); }) {}

JobWatch::~JobWatch() {
  stopped_ = true;
  connection_.StopWatching();
  thread_.join();
}

void JobWatch::Follow() {
  const absl::Status status = FollowUntilEnd(
      connection_, job_,
      [this](const JobNews& news) { loop_.Post([tell = tell_, news] { tell(news); }); },
      [this] { return stopped_.load(); });
  if (!status.ok()) {
    loop_.Post([failed = failed_, status] { failed(status); });
  }
}

absl::StatusOr<JobView> WaitForEnd(Connection& connection, JobId job) {
  JobView last;
  RETURN_IF_ERROR(FollowUntilEnd(
      connection, job, [&last](const JobNews& news) { last = news.job; }, [] { return false; }));
  return last;
}

int ExitCodeOf(const JobView& job) {
  if (job.exit_signal != 0) {
    return 128 + job.exit_signal;
  }
  if (job.exit_code != 0) {
    return std::clamp(job.exit_code, 0, 255);
  }
  return IsSuccess(job.state) ? 0 : 1;
}

}  // namespace muster::cli
