#pragma once

// One reader's stream of events: its place in the journal, its filter, its pace.
//
// Thread promise: gRPC's threads, the feed's and the reader's call in and never wait. Invariants:
// (1) what the caller may not see is not sent; (2) one message is under way, and no more is kept
// for the reader than that; (3) a live reader that falls out of the feed's ring while it is being
// sent something is cut off, and told where to resume; (4) whose token or certificate is revoked
// gets nothing more, and his stream ends at the feed's next word.

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/access/gate.h"
#include "daemon/client/events/past_events.h"
#include "daemon/controller/controller.h"
#include "daemon/events/event_feed.h"
#include "proto/controller.pb.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// Which events a reader wants.
struct EventQuery {
  Version from;  // none: those to come, or the last kTail when it does not follow
  JobId job;     // or its array; none: any
  std::string user;
  bool follow = false;
};

class EventStream final : public grpc::ServerWriteReactor<wire::WatchEventsReply>,
                          public std::enable_shared_from_this<EventStream> {
 public:
  static constexpr std::uint64_t kTail = 1'000;
  static constexpr std::size_t kMessageBytes = std::size_t{64} << 10;

  // What is referred to outlives the stream; `gone` is called once it is over.
  EventStream(grpc::CallbackServerContext& context, const Gate& gate, Caller caller,
              EventQuery query, EventFeed& feed, PastEvents& past, std::function<void()> gone);

  void Begin(Controller& controller);
  void Refuse(const absl::Status& status);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  void BeginAt(Version now, bool leads);
  void OnNews();
  void OnDismissed();
  void OnPast(const absl::StatusOr<Past>& past);
  void OnJudged(const absl::Status& there);
  void Pump();
  void PumpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Deliver(const std::vector<CloudEventPtr>& events, Version next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AnnounceLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] bool Wants(const CloudEvent& event) const;

  grpc::CallbackServerContext& context_;
  const Gate& gate_;
  const Caller caller_;
  const EventQuery query_;
  EventFeed& feed_;
  PastEvents& past_;
  const std::function<void()> gone_;
  std::shared_ptr<EventStream> self_;
  EventFeed::Handle news_;
  Mutex mutex_;
  wire::WatchEventsReply reply_ ABSL_GUARDED_BY(mutex_);
  Version next_ ABSL_GUARDED_BY(mutex_);   // what to send then
  Version until_ ABSL_GUARDED_BY(mutex_);  // it ends there; none: it follows
  bool started_ ABSL_GUARDED_BY(mutex_) = false;
  bool live_ ABSL_GUARDED_BY(mutex_) = false;  // has been in the ring
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool slow_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace muster::daemon
