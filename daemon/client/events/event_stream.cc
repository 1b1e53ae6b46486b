#include "daemon/client/events/event_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"

namespace muster::daemon {

EventStream::EventStream(grpc::CallbackServerContext& context, const Gate& gate, Caller caller,
                         EventQuery query, EventFeed& feed, PastEvents& past,
                         std::function<void()> gone)
    : context_(context),
      gate_(gate),
      caller_(std::move(caller)),
      query_(std::move(query)),
      feed_(feed),
      past_(past),
      gone_(std::move(gone)) {}

void EventStream::Begin(Controller& controller) {
  self_ = shared_from_this();
  const auto call = [this](void (EventStream::*member)()) {
    return [weak = weak_from_this(), member] {
      if (const std::shared_ptr<EventStream> stream = weak.lock()) {
        (stream.get()->*member)();
      }
    };
  };
  news_ = feed_.Listen({call(&EventStream::OnNews), call(&EventStream::OnDismissed)});
  controller.Look(
      [stream = shared_from_this(), &controller](const StateView& snapshot) -> Controller::Reply {
        const Version now = snapshot.state().version();
        stream->feed_.Open(now);
        return [stream, now, leads = controller.leads()](const absl::Status& status) {
          if (status.ok()) {
            stream->BeginAt(now, leads);
            return;
          }
          const MutexLock lock(&stream->mutex_);
          stream->EndLocked(status);
        };
      });
}

void EventStream::Refuse(const absl::Status& status) {
  self_ = shared_from_this();
  const MutexLock lock(&mutex_);
  EndLocked(status);
}

void EventStream::BeginAt(Version now, bool leads) {
  const MutexLock lock(&mutex_);
  if (finished_) {
    return;
  }
  if (query_.from > now.Next() && !leads) {
    EndLocked(absl::UnavailableError("this controller is a standby, and not that far yet"));
    return;
  }
  if (query_.from > now.Next()) {
    EndLocked(absl::OutOfRangeError(
        absl::StrCat("event ", query_.from.value(), ": the newest is ", now.value())));
    return;
  }
  const std::uint64_t tail = now.value() > kTail ? now.value() - kTail : 0;
  next_ = query_.from.valid() ? query_.from : query_.follow ? now.Next() : Version(tail + 1);
  until_ = query_.follow ? Version() : now.Next();
  if (next_ >= feed_.begin()) {
    AnnounceLocked();
    return;
  }
  // What the journal has no more is refused before the stream is there: one that began could only
  // break off, and its reader would come back for ever.
  reading_ = true;
  past_.Read(next_, [stream = shared_from_this()](const absl::StatusOr<Past>& past) {
    stream->OnJudged(past.status());
  });
}

void EventStream::OnJudged(const absl::Status& there) {
  const MutexLock lock(&mutex_);
  reading_ = false;
  if (finished_) {
    return;
  }
  if (there.ok()) {
    AnnounceLocked();
  } else {
    EndLocked(there);
  }
}

// The first message has no event: it says that the stream is there, and where it begins.
void EventStream::AnnounceLocked() {
  started_ = writing_ = true;
  reply_.set_next(next_.value());
  StartWrite(&reply_);
}

void EventStream::OnNews() {
  const MutexLock lock(&mutex_);
  if (writing_ && live_ && !finished_ && next_ < feed_.begin()) {
    slow_ = true;
    context_.TryCancel();  // ends the write that does not end
    return;
  }
  if (writing_ && !finished_ && !gate_.StillGood(caller_).ok()) {
    context_.TryCancel();
    return;
  }
  PumpLocked();
}

// The reader finds the controller that leads, and goes on there.
void EventStream::OnDismissed() {
  const MutexLock lock(&mutex_);
  EndLocked(absl::UnavailableError(absl::StrCat(
      "this controller leads no more, or lost its database; resume from ", next_.value())));
}

void EventStream::OnWriteDone(bool ok) {
  const MutexLock lock(&mutex_);
  writing_ = false;
  if (slow_) {
    EndLocked(absl::AbortedError(absl::StrCat(
        "too slow: events came faster than they were read; resume from ", next_.value())));
  } else if (!ok) {
    EndLocked(absl::CancelledError("the reader went away"));
  } else {
    PumpLocked();
  }
}

void EventStream::OnCancel() {
  const MutexLock lock(&mutex_);
  EndLocked(slow_ ? absl::AbortedError(absl::StrCat("too slow; resume from ", next_.value()))
                  : absl::CancelledError("the reader went away"));
}

void EventStream::OnDone() {
  news_.reset();
  gone_();
  self_.reset();
}

void EventStream::OnPast(const absl::StatusOr<Past>& past) {
  const MutexLock lock(&mutex_);
  reading_ = false;
  if (finished_) {
    return;
  }
  if (!past.ok()) {
    EndLocked(past.status());
    return;
  }
  Deliver(past->events, past->next);
  // At the end of the journal, too: what was published meanwhile woke nobody.
  if (!writing_ && !finished_ && (!past->at_end || query_.follow)) {
    PumpLocked();
  }
}

void EventStream::PumpLocked() {
  if (!started_ || writing_ || reading_ || finished_) {
    return;
  }
  if (const absl::Status good = gate_.StillGood(caller_); !good.ok()) {
    gate_.Note(caller_, "WatchEvents", good);
    EndLocked(good);
    return;
  }
  const EventFeed::Piece piece = feed_.Read(
      next_, [this](const CloudEvent& event) { return Wants(event); }, kMessageBytes);
  if (piece.behind) {
    reading_ = true;
    past_.Read(next_, [stream = shared_from_this()](const absl::StatusOr<Past>& past) {
      stream->OnPast(past);
    });
    return;
  }
  live_ = true;
  Deliver(piece.events, piece.next);
}

void EventStream::Deliver(const std::vector<CloudEventPtr>& events, Version next) {
  reply_.Clear();
  for (const CloudEventPtr& event : events) {
    if (!Wants(*event) || (until_.valid() && event->version >= until_)) {
      continue;
    }
    wire::EventLine* const line = reply_.add_events();
    line->set_number(event->version.value());
    line->set_type(event->type);
    line->set_json(event->json);
  }
  next_ = std::max(next_, next);
  if (reply_.events_size() > 0) {
    reply_.set_next(next_.value());
    writing_ = true;
    StartWrite(&reply_);
  } else if (until_.valid() && next_ >= until_) {
    EndLocked(absl::OkStatus());
  }
}

void EventStream::EndLocked(const absl::Status& status) {
  if (!finished_) {
    finished_ = true;
    Finish(ToGrpc(status));
  }
}

bool EventStream::Wants(const CloudEvent& event) const {
  const bool shown =
      event.user.empty() ? !Hides(caller_, Private::kNodes) : MaySee(caller_, event.user);
  return shown &&
         (!query_.job.valid() || event.job == query_.job || event.submission == query_.job) &&
         (query_.user.empty() || event.user == query_.user);
}

}  // namespace muster::daemon
