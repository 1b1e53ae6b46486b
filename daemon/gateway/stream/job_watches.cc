#include "daemon/gateway/stream/job_watches.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace muster::daemon {

std::optional<std::uint64_t> JobWatches::JobOf(const std::string& path) {
  absl::string_view left = path;
  std::uint64_t job = 0;
  if (!absl::ConsumePrefix(&left, "/v1/jobs/") || !absl::ConsumeSuffix(&left, "/watch") ||
      left.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(left, &job)) {
    return std::nullopt;
  }
  return job;
}

void JobWatches::Serve(std::uint64_t job, const std::string& token,
                       const std::shared_ptr<http::ReplyPath>& reply) {
  auto watch = std::make_shared<Watch>();
  watch->path = reply;
  {
    const MutexLock lock(&mutex_);
    if (watches_.size() >= kWatchesMax) {
      reply->Send(refuse_({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many watchers of jobs"}));
      return;
    }
    watches_.push_back(watch);
  }
  wire::WatchJobRequest request;
  request.set_job(job);
  std::function<void()> end = link_.Watch(
      request, token,
      {.news = [this, watch](const wire::WatchJobReply& view,
                             const std::function<void()>& more) { OnView(watch, view, more); },
       .ended = [this, watch](const grpc::Status& status) { OnEnded(watch, status); }});
  {
    const MutexLock lock(&mutex_);
    if (!watch->gone) {
      watch->end = std::move(end);
      return;
    }
  }
  end();  // the reader went before there was anything to end
}

void JobWatches::OnView(const WatchPtr& watch, const wire::WatchJobReply& view,
                        const std::function<void()>& more) {
  const std::string text = absl::StrCat("event: job\ndata: ", print_(view), "\n\n");
  const MutexLock lock(&mutex_);
  if (watch->gone) {
    return;
  }
  if (!watch->begun) {
    watch->begun = true;
    watch->path->BeginStream({200, "text/event-stream; charset=utf-8", "", {}});
  }
  watch->more = more;
  watch->next += text;
  Pump(watch);
}

void JobWatches::OnEnded(const WatchPtr& watch, const grpc::Status& status) {
  const MutexLock lock(&mutex_);
  watch->end = nullptr;
  if (watch->gone) {
    return;
  }
  if (!watch->begun) {
    watch->path->Send(refuse_(status));
    Forget(watch);
    return;
  }
  watch->over = true;
  watch->more = nullptr;
  if (status.ok()) {
    watch->next += "event: end\ndata: {}\n\n";
  }
  Pump(watch);
}

void JobWatches::Pump(const WatchPtr& watch) {
  if (watch->writing || watch->gone) {
    return;
  }
  if (!watch->next.empty()) {
    watch->writing = watch->heard = true;
    watch->path->Write(std::make_shared<const std::string>(std::exchange(watch->next, "")),
                       [this, watch](bool alive) { OnWritten(watch, alive); });
  } else if (watch->over) {
    watch->path->End();
    Forget(watch);
  }
}

void JobWatches::OnWritten(const WatchPtr& watch, bool alive) {
  std::function<void()> next;
  {
    const MutexLock lock(&mutex_);
    watch->writing = false;
    if (!alive) {
      next = std::exchange(watch->end, nullptr);
      Forget(watch);
    } else {
      Pump(watch);
      next = watch->writing ? nullptr : std::exchange(watch->more, nullptr);
    }
  }
  if (next) {
    next();
  }
}

void JobWatches::Forget(const WatchPtr& watch) {
  watch->gone = true;
  std::erase(watches_, watch);
}

void JobWatches::Beat() {
  const MutexLock lock(&mutex_);
  const std::vector<WatchPtr> watches = watches_;
  for (const WatchPtr& watch : watches) {
    if (watch->begun && !watch->writing && !std::exchange(watch->heard, false)) {
      watch->next += ":\n\n";
      Pump(watch);
      watch->heard = false;
    }
  }
}

}  // namespace muster::daemon
