#pragma once

// A job's state to whoever watches it over HTTP, as server-sent events, until it is over.
//
// Thread promise: gRPC's threads and the server's call in and never wait. Invariants: (1) a reader
// has one piece under way, and no more is read from the controller than that; a slow one misses
// states in between, never the last; (2) at most kWatchesMax at once; (3) a watch whose reader has
// gone ends its stream at the controller.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/gateway/http/message.h"
#include "daemon/gateway/link/controller_link.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class JobWatches {
 public:
  static constexpr std::size_t kWatchesMax = 256;

  // How a failed call is answered, and a view told.
  using Refuse = std::function<http::Response(const grpc::Status& status)>;
  using Print = std::function<std::string(const wire::WatchJobReply& view)>;
  // `link` outlives it, and is closed before it goes.
  JobWatches(ControllerLink& link, Refuse refuse, Print print)
      : link_(link), refuse_(std::move(refuse)), print_(std::move(print)) {}

  // The job of "/v1/jobs/7/watch"; nothing: it is another path.
  static std::optional<std::uint64_t> JobOf(const std::string& path);
  // Answers with the job's view now and after each change; the last event is "end".
  void Serve(std::uint64_t job, const std::string& token,
             const std::shared_ptr<http::ReplyPath>& reply);
  // Something to all who heard nothing since the last time, so that the dead are found.
  void Beat();

 private:
  struct Watch {
    std::shared_ptr<http::ReplyPath> path;
    bool begun = false;
    bool writing = false;
    bool heard = false;  // since the last beat
    bool over = false;   // nothing more comes from the controller
    bool gone = false;   // nor is anything told
    std::string next;    // what is written then
    std::function<void()> more;
    std::function<void()> end;
  };
  using WatchPtr = std::shared_ptr<Watch>;

  void OnView(const WatchPtr& watch, const wire::WatchJobReply& view,
              const std::function<void()>& more);
  void OnEnded(const WatchPtr& watch, const grpc::Status& status);
  void OnWritten(const WatchPtr& watch, bool alive);
  // What waits goes out, or the end, unless something is under way.
  void Pump(const WatchPtr& watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const WatchPtr& watch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ControllerLink& link_;
  const Refuse refuse_;
  const Print print_;
  Mutex mutex_;
  std::vector<WatchPtr> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
