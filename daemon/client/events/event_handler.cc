#include "daemon/client/events/event_handler.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::daemon {

absl::Status EventHandler::Enter(const Caller& caller) const {
  const MutexLock lock(&readers_->mutex);
  const auto found = readers_->of_user.find(caller.user.uid);
  const std::size_t own = found == readers_->of_user.end() ? 0 : found->second;
  if (readers_->all >= kReadersMax || (own >= kReadersOfUserMax && !IsOperator(caller))) {
    return absl::ResourceExhaustedError(
        absl::StrCat(caller.user.name, " reads events ", own, " times at once; end one first"));
  }
  readers_->of_user[caller.user.uid] = own + 1;
  ++readers_->all;
  return absl::OkStatus();
}

EventHandler::Reactor* EventHandler::WatchEvents(grpc::CallbackServerContext& context,
                                                 const absl::StatusOr<Caller>& caller,
                                                 const wire::WatchEventsRequest& request) {
  absl::Status may = caller.status();
  if (may.ok() && !request.user().empty() && !MaySee(*caller, request.user())) {
    may = absl::PermissionDeniedError(absl::StrCat("WatchEvents: ", caller->user.name,
                                                   " may not see ", request.user(),
                                                   "'s events; leave --user out for your own"));
    gate_.Note(*caller, "WatchEvents", may);
  }
  may = may.ok() ? Enter(*caller) : may;
  std::function<void()> gone = [] {};
  if (may.ok()) {
    gone = [readers = readers_, uid = caller->user.uid] {
      const MutexLock lock(&readers->mutex);
      --readers->all;
      if (--readers->of_user[uid] == 0) {
        readers->of_user.erase(uid);
      }
    };
  }
  EventQuery query{Version(request.from()), JobId(request.job()), request.user(), request.follow()};
  auto stream =
      std::make_shared<EventStream>(context, gate_, caller.ok() ? *caller : Caller(),
                                    std::move(query), controller_.events(), past_, std::move(gone));
  if (may.ok()) {
    stream->Begin(controller_);
  } else {
    stream->Refuse(may);
  }
  return stream.get();
}

}  // namespace muster::daemon
